import { ApiUser } from '../harness/api.js';
import { type CommandUsage, runCommand } from '../harness/command.js';
import { formatNumber } from '../harness/table.js';
import type { Lab } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { writeImportRecords } from '../worlds/import-records.js';
import { smallArchive } from '../worlds/worlds.js';
import { waitMeanwhile } from './windows.js';

const MEGABYTE = 1024 * 1024;
const WINDOW_SECONDS = 5;

/** Cost of moving in from another system. */
export const importing: Workload = {
  name: 'import',
  async run(lab) {
    const path = `${lab.newFile()}.jsonl`;
    const { records, messages } = await writeImportRecords(path, lab.messages);
    const command = ['import', path, '--realm=bench', `--database=sqlite:${lab.newFile()}`];
    const dryRun = await runCommand([...command, '--dry-run']);
    const imported = await runCommand([...command, '--new-database']);
    const repeated = await runCommand(command);
    const reported = await runCommand([...command, `--report=${lab.newFile()}`]);
    const ofMessages = `${formatNumber(messages)} messages of records`;
    return [
      perSecond(`dry run of ${formatNumber(records)} records, a second of CPU`, records, dryRun, 50_000),
      memory('memory for the dry run', dryRun),
      perSecond(`importing ${ofMessages}, a second of CPU`, messages, imported, 20_000),
      memory('memory for importing them', imported),
      perSecond('importing them again, a second of CPU', messages, repeated, 100_000),
      perSecond('importing them again with a report, a second of CPU', messages, reported, null),
      memory('memory for importing them again with a report', reported),
      await whileServing(lab, path, ofMessages),
    ];
  },
};

/** Latency of sends during an import into the organization of the sender. */
async function whileServing(lab: Lab, path: string, ofMessages: string): Promise<Figure> {
  const { database, contents } = await lab.copyOf(smallArchive);
  const parley = await lab.serve(database);
  const author = await ApiUser.signIn(parley, contents.reader.email);
  const label = (seconds: string) => `${ofMessages} are imported (${seconds} s)`;
  return waitMeanwhile(lab, parley, author, contents, WINDOW_SECONDS, label, () =>
    runCommand(['import', path, '--realm=bench', `--database=sqlite:${database}`]),
  );
}

function perSecond(label: string, count: number, { cpuMs }: CommandUsage, atLeast: number | null): Figure {
  const seconds = cpuMs / 1000;
  const goal = atLeast === null ? null : { atLeast, unit: '/s' };
  return { label, ours: `${formatNumber(seconds)} s`, limit: '', value: count / seconds, goal };
}

function memory(label: string, { ownPeak }: CommandUsage): Figure {
  const megabytes = ownPeak / MEGABYTE;
  const goal = { atMost: 300, unit: 'MB' };
  return { label, ours: `${formatNumber(megabytes)} MB`, limit: '', value: megabytes, goal };
}
