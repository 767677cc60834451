import type { ImportBatch } from '@parley/domain/exports';
import type { WireWorld as World } from '../testing/wire-world.js';
import type { Scenarios } from './scenario.js';

let importId: unknown;

export const IMPORTS_SCENARIOS: Scenarios = {
  'POST /realm/imports/:import_id/undo': [
    { title: 'an import', as: 'desdemona', prepare: addImport, at: () => ({ import_id: importId }), heard: [] },
  ],
};

async function addImport({ server }: World): Promise<void> {
  const { realmId } = server;
  const batch: Omit<ImportBatch, 'id'> = {
    ...{ realmId, source: 'crm', status: 'complete', createdRealm: false, messages: 0, lastMessageId: 0 },
    ...{ startedAt: server.clock.now(), version: 0 },
  };
  importId = (await server.storage.uow.write(realmId, (tx) => tx.importBatches.add(batch))).id;
}
