import type { ImportBatch } from '@parley/domain/exports';
import { CheckImport, RunRequestedImports } from '@parley/transfer/imports';
import { fieldsOf } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { postFiles } from '../testing/multipart.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import type { Scenarios } from './scenario.js';

let importId: unknown;
let pathId = '';

export const IMPORTS_SCENARIOS: Scenarios = {
  'POST /realm/imports/:import_id/undo': [
    { title: 'an import', as: 'desdemona', prepare: addImport, at: () => ({ import_id: importId }), heard: [] },
  ],
  'POST /realm/imports/run': [
    { title: 'an export', as: 'desdemona', prepare: upload, params: () => ({ path_id: pathId }), heard: [] },
  ],
  'POST /realm/imports/run/start': [{ title: 'a checked export', as: 'desdemona', prepare: check, heard: [] }],
  'DELETE /realm/imports/run': [
    // Its files are deleted.
    { title: 'a checked export', as: 'desdemona', prepare: check, heard: ['attachment/remove', 'attachment/remove'] },
  ],
};

async function upload({ server, people }: World): Promise<void> {
  const files = [{ name: 'slack.zip', content: 'PK' }];
  const { url } = fieldsOf(await postFiles(server, '/user_uploads', people.desdemona, files)) as { url: string };
  pathId = url.replace('/user_uploads/', '');
}

async function check(world: World): Promise<void> {
  await upload(world);
  const { server, people } = world;
  const caller = { realmId: server.realmId, userId: people.desdemona.id, clientName: 'test' };
  const input = { pathId, peoplePathId: null, claimBy: '', sharesPublic: false };
  await server.parley.useCase(CheckImport).execute(caller, input);
  await runJobs(server, server.parley.useCase(RunRequestedImports));
}

async function addImport({ server }: World): Promise<void> {
  const { realmId } = server;
  const batch: Omit<ImportBatch, 'id'> = {
    ...{ realmId, source: 'crm', status: 'complete', createdRealm: false, messages: 0, lastMessageId: 0 },
    ...{ startedAt: server.clock.now(), version: 0, requesterId: null },
  };
  importId = (await server.storage.uow.write(realmId, (tx) => tx.importBatches.add(batch))).id;
}
