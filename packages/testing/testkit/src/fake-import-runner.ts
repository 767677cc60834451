import type { ImportCommand, ImportFile, ImportOutcome, ImportRunner } from '@parley/domain/exports';

/** Command with the content of its files. */
export interface RunImport extends Omit<ImportCommand, 'exported' | 'people'> {
  readonly exported: string;
  readonly people: string | null;
}

/** Records commands instead of importing. */
export class FakeImportRunner implements ImportRunner {
  readonly commands: RunImport[] = [];
  outcome: ImportOutcome = { problem: null, report: 'Records: 1', page: Buffer.from('<p>Records: 1</p>') };
  /** Thrown instead of returning the outcome. */
  error: Error | null = null;
  /** Runs while the import is in progress. */
  during: () => unknown = () => {};

  async run({ exported, people, ...command }: ImportCommand, keepGoing: () => Promise<void>): Promise<ImportOutcome> {
    const texts = { exported: await textOf(exported), people: people && (await textOf(people)) };
    this.commands.push({ ...command, ...texts });
    await this.during();
    await keepGoing();
    if (this.error) throw this.error;
    return this.outcome;
  }
}

async function textOf({ content }: ImportFile): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
