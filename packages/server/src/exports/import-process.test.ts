import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ImportCommand, ImportFile } from '@parley/domain/exports';
import { inOneChunk } from '@parley/domain/files';
import type { RealmId, UserId } from '@parley/domain/kernel';
import { ImportProcess } from './import-process.js';

const folder = mkdtempSync(join(tmpdir(), 'parley-import-process-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program in place of `parley`; `options` are its options by name. */
function run(program: string, command: Partial<ImportCommand> = {}, keepGoing = async () => {}) {
  const path = join(folder, 'program.cjs');
  writeFileSync(
    path,
    `const fs = require('node:fs');
     const [command, file, ...rest] = process.argv.slice(2);
     const options = Object.fromEntries(rest.map((word) => /^--([^=]*)=?(.*)$/.exec(word).slice(1)));
     const write = (name, text) => { fs.mkdirSync(options.report, { recursive: true }); fs.writeFileSync(options.report + '/' + name, text); };
     ${program}`,
  );
  const temporary = join(folder, 'imports');
  const runner = new ImportProcess(temporary, 'db', { ...process.env, PARLEY_SECRET: 'hidden' }, path);
  const common = {
    realmId: 7 as RealmId,
    requesterId: 5 as UserId,
    stringId: 'acme',
    isDryRun: true,
    claimBy: '',
    sharesPublic: false,
  };
  const given = { ...common, exported: fileOf('slack.zip', 'PK'), people: null, ...command };
  return runner.run(given, keepGoing).finally(() => expect(readdirSync(temporary)).toEqual([]));
}

const fileOf = (name: string, text: string): ImportFile => ({ name, content: inOneChunk(Buffer.from(text)) });

const REPORT = `write('report.html', '<p>'); write('report.txt', JSON.stringify([command, file.split('/').at(-1), fs.readFileSync(file, 'utf8'), Object.keys(options), options.realm, options['claim-by'], process.env.PARLEY_SECRET]));`;

describe('import process', () => {
  it('returns the report of the command, which gets files and settings', async () => {
    const options = { people: fileOf('a', 'person,email'), claimBy: 'email', sharesPublic: true, isDryRun: false };
    const dryRun = await run(REPORT);
    expect(dryRun).toEqual({ problem: null, report: expect.any(String), page: Buffer.from('<p>') });
    const reported = [
      'import',
      'export.zip',
      'PK',
      ['realm', 'on-behalf-of', 'report', 'json', 'dry-run'],
      'acme',
      null,
      'hidden',
    ];
    expect(JSON.parse((dryRun as { report: string }).report)).toEqual(reported);
    const { report } = (await run(REPORT, options)) as { report: string };
    expect(JSON.parse(report).slice(3)).toEqual([
      ['realm', 'on-behalf-of', 'report', 'json', 'people', 'claim-by', 'share-public'],
      ...['acme', 'email', 'hidden'],
    ]);
  });

  it('returns the message of a rejected export without the temporary folder', async () => {
    const program = `console.error('Imported 100000 messages …');
      console.error(JSON.stringify({ error: { code: 'INVALID_IMPORT', message: file + ', line 3: name is missing.' } }));
      process.exit(1);`;
    expect(await run(program)).toEqual({ problem: 'export.zip, line 3: name is missing.' });
    expect(await run('process.exit(2)')).toEqual({ problem: 'The import failed.' });
  });

  it.each(['ENOSPC', 'SERVER_BUSY', 'STORAGE_UNAVAILABLE'])('throws if the command fails with %s', async (code) => {
    const program = `console.error(JSON.stringify({ error: { code: '${code}', message: 'private' } })); process.exit(1);`;
    await expect(run(program)).rejects.toThrow(/ended with code 1: .*private/);
  });

  it('keeps only the extension of the file name', async () => {
    for (const [name, stored] of [
      ['../../etc/passwd', 'export'],
      ['..', 'export'],
      ['dump.archive.gz', 'export.archive.gz'],
    ] as const) {
      const { report } = (await run(REPORT, { exported: fileOf(name, 'PK') })) as { report: string };
      expect(JSON.parse(report)[1]).toBe(stored);
    }
  });

  it('keeps temporary files of the command in a folder without the export, and limits its memory', async () => {
    const program = `const path = require('node:path');
      write('report.html', '');
      write('report.txt', JSON.stringify([fs.readdirSync(path.dirname(file)), fs.readdirSync(process.env.TMPDIR).sort(),
        path.dirname(path.dirname(file)) === process.env.TMPDIR, require('node:v8').getHeapStatistics().heap_size_limit / 2 ** 20 < 1300]));`;
    const { report } = (await run(program, { people: fileOf('a', 'person,email') })) as { report: string };
    expect(JSON.parse(report)).toEqual([['export.zip'], ['people.csv', 'report', 'source'], true, true]);
  });

  it('keeps no HTML page above 16 MiB', async () => {
    const program = `write('report.txt', ''); write('report.html', ' '.repeat(16 * 1024 * 1024 + 1));`;
    expect(await run(program)).toEqual({ problem: null, report: '', page: null });
  });

  it('throws if the command is killed or crashes', async () => {
    await expect(run(`process.kill(process.pid, 'SIGKILL')`)).rejects.toThrow('parley import ended with code null');
    await expect(run(`console.error('a bug'); process.exit(70)`)).rejects.toThrow('code 70: a bug');
  });

  it('kills the command once it must not continue', async () => {
    const started = join(folder, 'started');
    const program = `fs.writeFileSync(${JSON.stringify(started)}, String(process.pid)); setInterval(() => {}, 1000);`;
    const keepGoing = async () => {
      if (existsSync(started)) throw new Error('discarded');
    };
    await expect(run(program, {}, keepGoing)).rejects.toThrow('discarded');
    expect(() => process.kill(Number(require('node:fs').readFileSync(started, 'utf8')), 0)).toThrow('ESRCH');
  });

  it('removes files of attempts that were interrupted more than a day ago', async () => {
    const temporary = join(folder, 'leftovers');
    const runner = new ImportProcess(temporary, 'db', {});
    await runner.removeLeftovers();
    for (const name of ['parley-import-db-7', 'parley-import-other-7', 'unknown']) {
      mkdirSync(join(temporary, name), { recursive: true });
      writeFileSync(join(temporary, name, 'export.zip'), 'PK');
    }
    utimesSync(join(temporary, 'parley-import-db-7'), 0, 0);
    await runner.removeLeftovers();
    expect(readdirSync(temporary)).toEqual(['parley-import-other-7', 'unknown']);
  });
});

it('is run by the file of the command, also if npm start starts the server', () => {
  const scripts = join(folder, 'scripts');
  const main = join(folder, 'dist', 'bundle', 'main.js');
  for (const name of [scripts, join(folder, 'dist', 'bundle')]) mkdirSync(name, { recursive: true });
  for (const name of ['start.mjs', 'run.mjs', 'node.mjs']) {
    copyFileSync(resolve(import.meta.dirname, '../../scripts', name), join(scripts, name));
  }
  writeFileSync(
    join(scripts, 'prepare.mjs'),
    `export const PARLEY = ${JSON.stringify(main)}; export const root = ''; export const prepare = () => {};`,
  );
  writeFileSync(main, 'console.log(JSON.stringify(process.argv.slice(1)));');
  const { stdout } = spawnSync(process.execPath, [join(scripts, 'start.mjs'), '--port=0'], { encoding: 'utf8' });
  expect(JSON.parse(stdout)).toEqual([main, 'serve', '--port=0']);
});
