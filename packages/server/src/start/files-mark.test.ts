import { copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderBlobStore } from '@parley/blobs';
import { runCommand } from '../testing/run-command.js';
import { adoptFiles, claimFiles } from './files-mark.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-files-mark-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('claimFiles', () => {
  const OWN = { id: 'a', place: 'here' };
  const claim = (identity: typeof OWN & { formerPlace?: string }) =>
    claimFiles(new FolderBlobStore(join(folder, 'files')), 'The folder F', identity);

  it('marks an unmarked location and accepts it again', async () => {
    await claim(OWN);
    await claim(OWN);
  });

  it('rejects the location of another database', async () => {
    await claim(OWN);
    await expect(claim({ id: 'b', place: 'here' })).rejects.toThrow(
      'The folder F holds the files of another database. Name another location in PARLEY_FILES (files). If no server uses ' +
        'that database any more, for example after a restore, run: parley file adopt',
    );
    await claim(OWN);
  });

  it('rejects the location of the database from which this one was copied', async () => {
    await claim(OWN);
    await expect(claim({ id: 'a', place: 'there' })).rejects.toThrow(
      'The folder F holds the files of another database, of which this one is a copy.',
    );
  });

  it('takes over the location of the database that parley move replaced', async () => {
    await claim(OWN);
    await claim({ id: 'a', place: 'there', formerPlace: 'here' });
    await expect(claim(OWN)).rejects.toThrow('of which this one is a copy');
  });

  it('accepts an adopted location', async () => {
    await claim(OWN);
    const other = { id: 'b', place: 'there' };
    await adoptFiles(new FolderBlobStore(join(folder, 'files')), other);
    await claim(other);
  });
});

describe('a copy of the database with the same PARLEY_FILES', () => {
  const run = (database: string, ...args: string[]) =>
    runCommand([
      ...args,
      '--database',
      `sqlite:${join(folder, database)}`,
      '--files',
      `folder:${join(folder, 'shared')}`,
    ]);

  beforeEach(async () => {
    expect(await run('live.db', 'realm', 'create', '--new-database', '', 'Live')).toMatchObject({ code: 0 });
    copyFileSync(join(folder, 'live.db'), join(folder, 'staging.db'));
    cpSync(join(folder, 'live.db.secret'), join(folder, 'staging.db.secret'));
  });

  it('cannot sweep the files of the other one', async () => {
    const swept = await run('staging.db', 'file', 'sweep');
    expect(swept).toMatchObject({ code: 1 });
    expect(swept.err).toContain('holds the files of another database, of which this one is a copy');
    expect(await run('live.db', 'file', 'sweep')).toMatchObject({ code: 0 });
  });

  it('owns them after parley file adopt', async () => {
    expect(await run('staging.db', 'file', 'adopt')).toMatchObject({ code: 0 });
    expect(await run('staging.db', 'file', 'sweep')).toMatchObject({ code: 0 });
    expect(await run('live.db', 'file', 'sweep')).toMatchObject({ code: 1 });
  });
});
