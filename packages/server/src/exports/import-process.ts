import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ImportCommand, ImportFile, ImportOutcome, ImportRunner } from '@parley/domain/exports';
import type { Environment } from '../configuration/env-file.js';

/** Exit codes of rejected commands: see `EXIT_CODES`. */
const REJECTED: readonly (number | null)[] = [1, 2];
/** Codes of failures that may end, such as a full disk; their messages are for the operator. */
const SERVER_FAILURE = /^(?:SERVER_BUSY|STORAGE_UNAVAILABLE|SYSTEM|E[A-Z\d]+)$/;
const CHECK_MS = 1000;
/** Larger HTML pages are not kept. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
/** Kept end of the output, which contains the error. */
const MAX_OUTPUT_LENGTH = 20_000;

/** Maximum heap of the command in MiB, which is enough for `MAX_PEOPLE` people and their memberships. */
const MEMORY = '--max-old-space-size=1024';

/** Runs `parley import` in a process that ends with this one. */
export class ImportProcess implements ImportRunner {
  /**
   * @param folder for temporary files
   * @param database name that differs from those of other databases with this folder
   * @param environment settings of the server
   * @param program file of the `parley` command
   */
  constructor(
    private readonly folder: string,
    private readonly database: string,
    private readonly environment: Environment,
    private readonly program = process.argv[1]!,
  ) {}

  async run(command: ImportCommand, keepGoing: () => Promise<void>): Promise<ImportOutcome> {
    const { realmId, requesterId, stringId, isDryRun, exported, people, claimBy, sharesPublic } = command;
    // An organization has one run, so a former folder is from an interrupted attempt.
    const { IMPORT_FOLDER } = await import('@parley/export-files');
    const folder = join(this.folder, `${IMPORT_FOLDER}${this.database}-${realmId}`);
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      // Paths in the export lead to files in the same folder, so nothing else is in it.
      const source = join(folder, 'source');
      await mkdir(source, { mode: 0o700 });
      const path = join(source, `export${endingOf(exported)}`);
      await store(exported, path);
      const peoplePath = join(folder, 'people.csv');
      if (people) await store(people, peoplePath);
      const reportFolder = join(folder, 'report');
      const { exitCode, output } = await this.finish(
        [
          ...[
            'import',
            path,
            `--realm=${stringId}`,
            `--on-behalf-of=${requesterId}`,
            `--report=${reportFolder}`,
            '--json',
          ],
          ...(isDryRun ? ['--dry-run'] : []),
          ...(people ? [`--people=${peoplePath}`] : []),
          ...(claimBy === '' ? [] : [`--claim-by=${claimBy}`]),
          ...(sharesPublic ? ['--share-public'] : []),
        ],
        { ...this.environment, TMPDIR: folder },
        keepGoing,
      );
      const { code = '', message = 'The import failed.' } = errorIn(output);
      if (REJECTED.includes(exitCode) && !SERVER_FAILURE.test(code)) {
        return { problem: message.replaceAll(`${source}/`, '').replaceAll(`${folder}/`, '') };
      }
      if (exitCode !== 0) throw new Error(`parley import ended with code ${exitCode}: ${output}`);
      const report = await readFile(join(reportFolder, 'report.txt'), 'utf8');
      const page = join(reportFolder, 'report.html');
      return { problem: null, report, page: (await stat(page)).size > MAX_PAGE_BYTES ? null : await readFile(page) };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Removes files of attempts that were interrupted a day ago or earlier. */
  async removeLeftovers(): Promise<void> {
    if (!existsSync(this.folder)) return;
    const { removeAbandoned } = await import('@parley/export-files');
    await removeAbandoned(this.folder);
  }

  /** Waits for the end of the command. `exitCode` is null if it was killed. */
  private async finish(
    args: readonly string[],
    environment: Environment,
    keepGoing: () => Promise<void>,
  ): Promise<{ readonly exitCode: number | null; readonly output: string }> {
    await keepGoing();
    // The command ends when the channel to this process closes (main.ts).
    const child: ChildProcess = spawn(process.execPath, [MEMORY, this.program, ...args], {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let output = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-MAX_OUTPUT_LENGTH);
    });
    const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
    const stopped = new AbortController();
    const checks = (async () => {
      for (;;) {
        await sleep(CHECK_MS, undefined, { signal: stopped.signal });
        await keepGoing();
      }
    })();
    try {
      return { exitCode: await Promise.race([ended, checks]), output };
    } finally {
      stopped.abort();
      // The result or the first error is returned above.
      checks.catch(() => {});
      child.kill('SIGKILL');
      await ended.catch(() => {});
    }
  }
}

/** Extensions, by which some formats are recognized. The rest of the name could be unsuitable for a file. */
const endingOf = ({ name }: ImportFile): string => /(\.[a-z\d]{1,10}){1,2}$/i.exec(name)?.[0] ?? '';

const store = ({ content }: ImportFile, path: string): Promise<void> =>
  pipeline(content, createWriteStream(path, { mode: 0o600 }));

/** Returns the error that the command printed as JSON. */
function errorIn(output: string): { readonly code?: string; readonly message?: string } {
  for (const line of output.split('\n').reverse()) {
    // Other lines are log output.
    try {
      const { error } = JSON.parse(line);
      if (error) return error;
    } catch {}
  }
  return {};
}
