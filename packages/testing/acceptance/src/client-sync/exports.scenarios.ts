import { WriteRealmExport } from '@parley/transfer/exports';
import { fieldsOf } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import type { Scenarios } from './scenario.js';

let completeId: unknown;

export const EXPORTS_SCENARIOS: Scenarios = {
  'POST /export/realm': [{ title: 'an export of public data', as: 'desdemona', heard: ['realm_export'] }],
  'DELETE /export/realm/:export_id': [
    {
      title: 'an archive',
      as: 'iago',
      prepare: complete,
      at: () => ({ export_id: completeId }),
      heard: ['realm_export'],
    },
  ],
};

async function complete({ server, people }: World): Promise<void> {
  completeId = fieldsOf(await server.post('/export/realm', people.desdemona, {})).id;
  server.clock.advance(1);
  await runJobs(server, server.parley.useCase(WriteRealmExport));
}
