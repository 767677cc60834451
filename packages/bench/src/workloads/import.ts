import { type CommandUsage, runCommand } from '../harness/command.js';
import { formatNumber } from '../harness/table.js';
import type { Figure, Workload } from '../workload.js';
import { writeImportRecords } from '../worlds/import-records.js';

const MEGABYTE = 1024 * 1024;

/** Cost of moving in from another system. */
export const importing: Workload = {
  name: 'import',
  async run(lab) {
    const path = `${lab.newFile()}.jsonl`;
    const { records, messages } = await writeImportRecords(path, lab.importedMessages);
    const command = ['import', path, '--realm=bench', `--database=sqlite:${lab.newFile()}`];
    const dryRun = await runCommand([...command, '--dry-run']);
    const imported = await runCommand([...command, '--new-database']);
    return [
      perSecond(`dry run of ${formatNumber(records)} records, a second of CPU`, records, dryRun, 50_000),
      memory('memory for the dry run', dryRun),
      perSecond(`importing ${formatNumber(messages)} messages of records, a second of CPU`, messages, imported, 20_000),
      memory('memory for importing them', imported),
    ];
  },
};

function perSecond(label: string, count: number, { cpuMs }: CommandUsage, atLeast: number): Figure {
  const seconds = cpuMs / 1000;
  const goal = { atLeast, unit: '/s' };
  return { label, ours: `${formatNumber(seconds)} s`, limit: '', value: count / seconds, goal };
}

function memory(label: string, { ownPeak }: CommandUsage): Figure {
  const megabytes = ownPeak / MEGABYTE;
  const goal = { atMost: 300, unit: 'MB' };
  return { label, ours: `${formatNumber(megabytes)} MB`, limit: '', value: megabytes, goal };
}
