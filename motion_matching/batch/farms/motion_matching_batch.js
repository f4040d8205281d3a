// A job type of Flamenco: rows of Motion Matching, as `batch --flamenco FOLDER` submits them.

const JOB_TYPE = {
    label: "Motion Matching Batch",
    description: "Perform takes and solve scenes from a file of rows",
    settings: [
        { key: "jobs", type: "string", subtype: "file_path", required: true,
          description: "File of rows; paths in it are relative to its folder" },
        { key: "report", type: "string", subtype: "file_path", required: true,
          description: "File that joins the reports of all rows" },
        { key: "stages", type: "string", required: true, visible: "web",
          description: "Rows of each stage, and the stages it comes after, as JSON" },
        { key: "chunk_size", type: "int32", default: 10, propargs: { min: 1 },
          description: "Rows that share a process, which opens each database once" },
        { key: "program", type: "string", required: true, default: "{blender}",
          description: "Blender with the extension, or a Python with the package" },
        { key: "program_switch", type: "string", required: true, default: "--command", visible: "web",
          description: "How the program runs it: --command for Blender, -m for Python" },
        { key: "options", type: "string", default: "[]", visible: "web",
          description: "Further options of 'batch', as JSON" },
    ],
};

function compileJob(job) {
    const settings = job.settings;
    const options = ["--progress", "none"].concat(JSON.parse(settings.options || "[]"));
    const collecting = makeTask(settings, "collect", ["--collect", settings.report]);
    const tasks = {};
    for (const stage of JSON.parse(settings.stages)) {
        tasks[stage.name] = [];
        for (const rows of frameChunker(stage.rows, settings.chunk_size)) {
            const task = makeTask(settings, `${stage.name}-${rows}`, options.concat("--only", rows));
            for (const name of stage.after) {
                tasks[name].forEach((before) => task.addDependency(before));
            }
            collecting.addDependency(task);
            job.addTask(task);
            tasks[stage.name].push(task);
        }
    }
    job.addTask(collecting);
}

function makeTask(settings, name, words) {
    const task = author.Task(name, "misc");
    const args = [settings.program_switch, "motion_matching", "batch", settings.jobs].concat(words);
    task.addCommand(author.Command("exec", { exe: settings.program, args: args }));
    return task;
}
