"""The mannequin's sculptor: it writes the file that the package ships."""
