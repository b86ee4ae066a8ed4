/** What `sync <command> --help` shows at its end: command lines that work as they stand, and what each does. */
export const EXAMPLES: Readonly<Record<string, readonly (readonly [line: string, what: string])[]>> = {
  run: [
    ['sync run job.json', 'Runs the job, or goes on with its unfinished run.'],
    ['sync run job.json --output json', 'The summary as one JSON line, for scripts.'],
    ['sync run job.json --fresh', 'Gives up an unfinished run and starts a new one.'],
    ['sync run job.json --dry-run', 'The same as sync plan job.json.'],
  ],
  plan: [
    ['sync plan job.json', 'Splits, columns, target, delivery, saved state, and what is in the way.'],
    ['sync plan job.json --output json', 'The same for scripts; the exit code is that of a run that is refused.'],
  ],
  verify: [
    ['sync verify job.json', 'Exit 0: source and target hold the same rows; 1: they differ.'],
    ['sync verify job.json --key id', 'Where no key is known: rows with one id are the same row.'],
    ['sync verify job.json --repair', 'Writes and deletes what differs, then compares again.'],
  ],
  validate: [['sync validate job.json', 'All that is wrong with the file, with line and column.']],
  describe: [
    ['sync describe file', 'The options of the file reader and writer.'],
    ['sync describe file --writer --json', 'The JSON Schema of its writer.'],
  ],
  plugins: [['sync plugins', 'What can be read and written.']],
  init: [['sync init file file > job.json', 'A job file to fill in.']],
  schema: [['sync schema > job.schema.json', 'For editors: point $schema of a job file at it.']],
  status: [
    ['sync status', 'All jobs of the state folder.'],
    ['sync status job.json --output json', 'One job, for scripts.'],
  ],
  stop: [
    ['sync stop job.json', 'Waits until its final checkpoint is made; sync run goes on there.'],
    ['sync stop job.json --timeout 5min', 'Waits longer. Exit 1: not stopped in time; 4: it does not run.'],
  ],
  'state list': [['sync state list', 'Every run of every job.']],
  'state show': [['sync state show job.json', 'Its newest checkpoint as JSON.']],
  'state resolve': [['sync state resolve job.json --as lost --lane 0', 'The next start writes that epoch again.']],
  'state reset': [['sync state reset job.json', 'The next start begins from nothing.']],
  'xa list': [['sync xa list job.json', 'Also those of other jobs at the same server.']],
  'xa rollback': [
    ['sync xa rollback job.json syncx-k3n9q1x7w2ab-1-0-7', 'This one; exit 1 where it is not there.'],
    ['sync xa rollback job.json --run k3n9q1x7w2ab', 'All of a run that nobody will go on with.'],
  ],
  completion: [
    ['source <(sync completion bash)', 'For this shell; put the line into ~/.bashrc to keep it.'],
    ['sync completion zsh > ~/.zfunc/_sync', 'With ~/.zfunc in fpath, before compinit.'],
    ['sync completion fish > ~/.config/fish/completions/sync.fish', 'Found by the next shell.'],
  ],
};
