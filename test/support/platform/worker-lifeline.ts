// Set-up of every test file: a worker of vitest ends at once when the main process is gone, and its children end with it.

const INSTALLED = Symbol.for('slotbook.worker-lifeline');
const worker = process as NodeJS.Process & { [INSTALLED]?: true };

if (!worker[INSTALLED]) {
  worker[INSTALLED] = true;
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
}
