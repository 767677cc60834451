import type { ImportBatch } from '@parley/domain/exports';
import type { UserId } from '@parley/domain/kernel';
import { ErasePerson, EraseUser } from '@parley/domain/membership';
import { FakeImportRunner } from '@parley/testkit';
import { RunRequestedImports, UndoRequestedImports } from '@parley/transfer/imports';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { jobsWithin, runJobs } from '../testing/jobs.js';
import { postFiles } from '../testing/multipart.js';
import { organizationPerTest } from '../testing/servers.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const { server, people } = organizationPerTest();
beforeEach(() => {
  Object.assign(server.importRunner, new FakeImportRunner());
});

/** Adds an import of one message by Hamlet. */
async function addImport(more: Partial<ImportBatch> = {}): Promise<{ id: number; messageId: number }> {
  const { realmId } = server;
  const { id: messageId } = fieldsOf(
    await server.post('/messages', people.hamlet, { type: 'direct', to: [people.iago.id], content: 'imported' }),
  ) as Wire;
  return server.storage.uow.write(realmId, async (tx) => {
    const { id } = await tx.importBatches.add({
      ...{ realmId, source: 'crm', startedAt: server.clock.now(), status: 'complete', createdRealm: false },
      ...{ messages: 1, lastMessageId: messageId, version: 0, requesterId: null, ...more },
    });
    const record = { batchId: id, kind: 'message', recordId: 'm1', targetId: messageId, hash: '' } as const;
    await tx.importedRecords.put(realmId, [{ ...record, editedAt: null, reactions: 0 }]);
    return { id, messageId };
  });
}

const list = async () => (fieldsOf(await server.get('/realm/imports', people.desdemona)) as Wire).imports;
const undo = (id: number, as = people.desdemona) => server.post(`/realm/imports/${id}/undo`, as);

describe('imports of an organization', () => {
  it('are listed for owners, who undo them in the background', async () => {
    expect(await list()).toEqual([]);
    const { id, messageId } = await addImport();
    const shown = { id, source: 'crm', started_at: server.clock.now(), status: 'complete', message_count: 1 };
    expect(await list()).toEqual([shown]);
    fieldsOf(await undo(id));
    fieldsOf(await undo(id));
    expect(await list()).toEqual([{ ...shown, status: 'undoing' }]);
    await runJobs(server, server.parley.useCase(UndoRequestedImports));
    expect(await list()).toEqual([{ ...shown, status: 'undone' }]);
    expectRefusal(await server.get(`/messages/${messageId}`, people.iago), 'Invalid message(s)');
    fieldsOf(await undo(id));
    expect(await list()).toEqual([{ ...shown, status: 'undone' }]);
  });

  it('are listed only for owners, and undone only if they are complete, known and the latest', async () => {
    const owner = ['Must be an organization owner', { code: 'UNAUTHORIZED_PRINCIPAL' }] as const;
    const { id } = await addImport();
    for (const as of [people.iago, people.hamlet, people.polonius]) {
      expectRefusal(await server.get('/realm/imports', as), ...owner);
      expectRefusal(await undo(id, as), ...owner);
    }
    const { id: later } = await addImport({ status: 'running', createdRealm: true });
    expectRefusal(await undo(id), `Import ${later} is later and must be undone first.`);
    expectRefusal(await undo(later), `Import ${later} is still running.`);
    expectRefusal(await undo(later + 1), `There is no import ${later + 1}.`);
  });
});

const OWNERS_ONLY = ['Must be an organization owner', { code: 'UNAUTHORIZED_PRINCIPAL' }] as const;

async function upload(as: TestUser, name = 'slack.zip', content = 'the export', on = server): Promise<string> {
  const { url } = fieldsOf(await postFiles(on, '/user_uploads', as, [{ name, content }])) as Wire;
  return url.replace('/user_uploads/', '');
}

const check = (params: Readonly<Record<string, unknown>>, as = people.desdemona) =>
  server.post('/realm/imports/run', as, params);
const start = (as = people.desdemona) => server.post('/realm/imports/run/start', as);
const discard = (as = people.desdemona) => server.request('DELETE', '/realm/imports/run', { as });
const shown = async (as = people.desdemona) => fieldsOf(await server.get('/realm/imports', as)) as Wire;
const work = () => runJobs(server, server.parley.useCase(RunRequestedImports));
const files = async (as = people.desdemona) =>
  (fieldsOf(await server.get('/attachments', as)) as Wire).attachments.map(({ name }: Wire) => name);

describe('uploaded export', () => {
  it('is checked by a dry run, then imported on request, and deleted afterwards', async () => {
    expect(await shown()).toMatchObject({ run: null, accepts_uploads: true });
    const path_id = await upload(people.desdemona);
    const people_path_id = await upload(people.desdemona, 'people.csv', 'person,email');
    fieldsOf(await check({ path_id, people_path_id, claim_by: 'email,keycloak', share_public: true }));
    const pending = { name: 'slack.zip', report: null, report_path_id: null, problem: null };
    expect((await shown()).run).toEqual({ ...pending, status: 'checking', started_at: server.clock.now() });

    await work();
    const { run } = await shown();
    expect(run).toMatchObject({ name: 'slack.zip', status: 'checked', report: 'Records: 1', problem: null });
    const page = await server.request('GET', `//user_uploads/${run.report_path_id}`, { as: people.desdemona });
    expect([page.headers['content-type'], page.body]).toEqual(['text/html', '<p>Records: 1</p>']);
    expect(page.headers['content-disposition']).toMatch(/^attachment/);

    fieldsOf(await start());
    expect((await shown()).run.status).toBe('importing');
    server.importRunner.outcome = { problem: null, report: 'Records: 2', page: null };
    await work();
    expect((await shown()).run).toMatchObject({
      ...{ name: null, status: 'imported', report: 'Records: 2', report_path_id: null },
    });
    const command = {
      realmId: server.realmId,
      requesterId: people.desdemona.id,
      stringId: expect.stringMatching(/^zulip/),
      claimBy: 'email,keycloak',
    };
    expect(server.importRunner.commands).toEqual([
      { ...command, sharesPublic: true, isDryRun: true, exported: 'the export', people: 'person,email' },
      { ...command, sharesPublic: true, isDryRun: false, exported: 'the export', people: 'person,email' },
    ]);
    expect(await files()).toEqual([]);
    expectRefusal(await start(), 'The export must pass a dry run first.');
    fieldsOf(await discard());
    expect((await shown()).run).toBeNull();
  });

  it('replaces an earlier one, and deletes its files', async () => {
    const path_id = await upload(people.desdemona, 'old.zip');
    fieldsOf(await check({ path_id }));
    await work();
    expect((await files()).sort()).toEqual(['import-report.html', 'old.zip']);
    fieldsOf(await check({ path_id }));
    await work();
    expect((await files()).sort()).toEqual(['import-report.html', 'old.zip']);
    fieldsOf(await check({ path_id: await upload(people.desdemona, 'new.zip') }));
    expect(await files()).toEqual(['new.zip']);
    expect((await shown()).run).toMatchObject({ name: 'new.zip', report: null });
  });

  it('shows the problem of a failed run, which can be repeated after the dry run', async () => {
    fieldsOf(await check({ path_id: await upload(people.desdemona) }));
    server.importRunner.outcome = { problem: 'records.jsonl, line 3: name is missing.' };
    await work();
    const failed = { status: 'failed', problem: 'records.jsonl, line 3: name is missing.' };
    expect((await shown()).run).toMatchObject({ ...failed, report: null });
    expectRefusal(await start(), 'The export must pass a dry run first.');

    server.importRunner.outcome = new FakeImportRunner().outcome;
    fieldsOf(await check({ path_id: await upload(people.desdemona) }));
    await work();
    fieldsOf(await start());
    server.importRunner.outcome = { problem: 'x'.repeat(3000) };
    await work();
    expect((await shown()).run).toMatchObject({ status: 'failed', problem: 'x'.repeat(2000), report: 'Records: 1' });
    server.importRunner.outcome = new FakeImportRunner().outcome;
    fieldsOf(await start());
    await work();
    expect((await shown()).run).toMatchObject({ status: 'imported', problem: null });
  });

  it('continues after an interruption, at most three times', async () => {
    fieldsOf(await check({ path_id: await upload(people.desdemona) }));
    server.importRunner.error = new Error('killed');
    for (let attempt = 1; attempt < 3; attempt++) {
      await expect(work()).rejects.toThrow('killed');
      expect((await shown()).run.status).toBe('checking');
      server.clock.advance(3600);
    }
    await expect(work()).rejects.toThrow('killed');
    expect((await shown()).run).toMatchObject({
      ...{ status: 'failed', problem: "The import failed; see the server's log." },
    });
  });

  it('can be discarded while it is imported', async () => {
    fieldsOf(await check({ path_id: await upload(people.desdemona) }));
    server.importRunner.during = async () => fieldsOf(await discard());
    await work();
    expect(await shown()).toMatchObject({ run: null });
    expect(await files()).toEqual([]);
    expect(await jobsWithin(server, 'imports.run', 10_000)).toEqual([]);
    expectRefusal(await discard(), 'There is no export to import; upload one first.');
    expectRefusal(await start(), 'There is no export to import; upload one first.');
  });

  it('ends the attempt if the organization is renamed, because another one may take the former name', async () => {
    fieldsOf(await check({ path_id: await upload(people.desdemona) }));
    const rename = (stringId: string) =>
      server.storage.uow.write(server.realmId, async (tx) =>
        tx.realms.update({ ...(await tx.realms.get(server.realmId)), stringId }),
      );
    const { stringId } = await server.storage.uow.read(server.realmId, ({ realms }) => realms.get(server.realmId));
    server.importRunner.during = () => rename('renamed');
    await expect(work()).rejects.toThrow('its organization renamed');
    expect((await shown()).run.status).toBe('checking');
    await rename(stringId);
  });

  it('is not replaced or started while a run is in progress', async () => {
    const path_id = await upload(people.desdemona);
    fieldsOf(await check({ path_id }));
    expectRefusal(await check({ path_id }), 'An import is already in progress.');
    expectRefusal(await start(), 'An import is already in progress.');
    await work();
    fieldsOf(await start());
    expectRefusal(await start(), 'An import is already in progress.');
  });

  it('stays if a message refers to it', async () => {
    const path_id = await upload(people.desdemona);
    fieldsOf(await check({ path_id }));
    const content = `[export](/user_uploads/${path_id})`;
    fieldsOf(await server.post('/messages', people.desdemona, { type: 'direct', to: [people.iago.id], content }));
    fieldsOf(await discard());
    expect(await files()).toEqual(['slack.zip']);
  });

  it('must be a file of the caller', async () => {
    const other = await server.withNewOrganization();
    for (const path_id of [
      await upload(people.iago),
      await upload(other.people.desdemona, 'other.zip', 'x', other),
      `${server.realmId}/ab/unknown/slack.zip`,
    ]) {
      expectRefusal(await check({ path_id }), 'Invalid attachment');
      const own = await upload(people.desdemona);
      expectRefusal(await check({ path_id: own, people_path_id: path_id }), 'Invalid attachment');
    }
    expectRefusal(
      await check({ path_id: await upload(people.desdemona), claim_by: 'email, --x' }),
      'claim_by must be a list such as email,keycloak.',
    );
  });

  it('is imported only for owners', async () => {
    for (const as of [people.iago, people.hamlet, people.polonius]) {
      expectRefusal(await check({ path_id: await upload(as) }, as), ...OWNERS_ONLY);
      expectRefusal(await start(as), ...OWNERS_ONLY);
      expectRefusal(await discard(as), ...OWNERS_ONLY);
    }
    // The HTML report is a private file of the uploader.
    fieldsOf(
      await server.request('PATCH', `/users/${people.iago.id}`, { as: people.desdemona, params: { role: 100 } }),
    );
    fieldsOf(await check({ path_id: await upload(people.desdemona) }));
    await work();
    expect((await shown(people.iago)).run).toMatchObject({ report: 'Records: 1', report_path_id: null });
    fieldsOf(await start(people.iago));
    fieldsOf(
      await server.request('PATCH', `/users/${people.desdemona.id}`, { as: people.iago, params: { role: 400 } }),
    );
    await work();
    expect((await shown(people.iago)).run).toMatchObject({
      status: 'failed',
      problem: 'Must be an organization owner',
    });
  });

  it('is refused by servers that cannot run imports', async () => {
    const embedded = await TestServer.start({ importRunner: null });
    const { desdemona } = embedded.people;
    expect(fieldsOf(await embedded.get('/realm/imports', desdemona))).toMatchObject({ accepts_uploads: false });
    const refusal = 'This server cannot import uploaded exports; its operator imports them on the command line.';
    const params = { path_id: await upload(desdemona, 'a.zip', 'x', embedded) };
    expectRefusal(await embedded.post('/realm/imports/run', desdemona, params), refusal);
    expectRefusal(await embedded.post('/realm/imports/run/start', desdemona), refusal);
    await embedded.close();
  });
});

describe('the report of an uploaded export', () => {
  const run = async () => (await shown()).run?.status ?? null;

  /** Checks an export, and imports it. */
  async function runImport(): Promise<void> {
    fieldsOf(await check({ path_id: await upload(people.desdemona) }));
    await work();
    fieldsOf(await start());
    await work();
    expect([await run(), await files()]).toEqual(['imported', ['import-report.html']]);
  }

  async function runUndo(more: Partial<ImportBatch>): Promise<void> {
    const { id } = await addImport(more);
    fieldsOf(await undo(id));
    await runJobs(server, server.parley.useCase(UndoRequestedImports));
    expect((await list()).at(-1)).toMatchObject({ id, status: 'undone', message_count: 1 });
  }

  async function erase(): Promise<void> {
    const { id: userId } = await server.addUser({ email: 'gone@example.com', fullName: 'Gone' });
    await server.parley.useCase(EraseUser).execute({
      realmId: server.realmId,
      ...{ user: { userId: userId as UserId }, everythingWritten: false },
    });
    await runJobs(server, server.parley.useCase(ErasePerson));
  }

  it('is removed with its file by the undo of the import', async () => {
    await runImport();
    await runUndo({ requesterId: people.desdemona.id as UserId });
    expect([await run(), await files()]).toEqual([null, []]);
  });

  it('stays if another import is undone, or if a later export waits to be imported', async () => {
    await runImport();
    await runUndo({ requesterId: null });
    await runUndo({ requesterId: people.iago.id as UserId });
    expect([await run(), await files()]).toEqual(['imported', ['import-report.html']]);
    fieldsOf(await check({ path_id: await upload(people.desdemona) }));
    await work();
    await runUndo({ requesterId: people.desdemona.id as UserId });
    expect([await run(), (await files()).sort()]).toEqual(['checked', ['import-report.html', 'slack.zip']]);
  });

  it('is removed with its file by the erasure of a person', async () => {
    await runImport();
    await erase();
    expect([await run(), await files()]).toEqual([null, []]);
  });

  it('stays during an erasure as long as the export can be imported', async () => {
    fieldsOf(await check({ path_id: await upload(people.desdemona) }));
    await work();
    await erase();
    expect(await run()).toBe('checked');
    server.importRunner.outcome = { problem: 'no space' };
    fieldsOf(await start());
    await work();
    await erase();
    expect([await run(), (await files()).sort()]).toEqual(['failed', ['import-report.html', 'slack.zip']]);
  });
});
