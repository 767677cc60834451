import { type ImportBatch, UndoRequestedImports } from '@parley/domain/exports';
import { expectRefusal, fieldsOf, type Wire } from './testing/expectations.js';
import { runJobs } from './testing/jobs.js';
import { sharedServer, type TestServer } from './testing/test-server.js';

let server: TestServer;
let people: TestServer['people'];
const newOrganization = sharedServer();
beforeEach(async () => {
  server = await newOrganization();
  ({ people } = server);
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
      ...{ messages: 1, lastMessageId: messageId, version: 0, ...more },
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
