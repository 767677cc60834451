import { fieldsOf } from '../testing/expectations.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import type { Scenarios } from './scenario.js';

let holdId: unknown;

const HOLD = { reason: 'Case 1', since: 1 };

export const HOLDS_SCENARIOS: Scenarios = {
  'POST /holds': [{ title: 'messages by time', as: 'desdemona', prepare: grant, params: HOLD, heard: [] }],
  'POST /holds/:hold_id/release': [
    { title: 'a hold', as: 'desdemona', prepare: addHold, at: () => ({ hold_id: holdId }), heard: [] },
  ],
};

async function grant({ server, people }: World): Promise<void> {
  const { realmId } = server;
  await server.storage.uow.write(realmId, async (tx) => {
    const user = await tx.users.get(realmId, people.desdemona.id);
    await tx.users.update({ ...user, specialPermissions: ['canHoldMessages'] });
  });
}

async function addHold(world: World): Promise<void> {
  await grant(world);
  const { hold } = fieldsOf(await world.server.post('/holds', world.people.desdemona, HOLD)) as {
    hold: { id: number };
  };
  holdId = hold.id;
}
