import { writeSync } from 'node:fs';
import type { Channel } from '@parley/domain/channels';
import { settingValues, type Transaction, type UserId } from '@parley/domain/kernel';
import { type Realm, USER_SETTINGS } from '@parley/domain/realms';
import { openSqliteStorage } from '../index.js';
import { crashMessage } from '../testing/crash-message.js';

/** Reported to the parent once a unit is durable. */
export interface Acknowledged {
  readonly name: string;
  readonly userId: number;
  readonly messageId: number;
  readonly ordinal: number;
  readonly seq: number;
}

const UNITS_IN_FLIGHT = 32;
const now = () => Math.floor(Date.now() / 1000);

/** Changes many tables in one unit, so that tests can check atomicity. */
async function change(tx: Transaction, realm: Realm, channel: Channel, name: string): Promise<Acknowledged> {
  const user = await tx.users.add(
    {
      realmId: realm.id,
      email: name,
      fullName: name,
      role: 'member',
      isActive: true,
      isDeleted: false,
      joinedAt: now(),
      bot: null,
      avatar: { source: 'gravatar', version: 1 },
      specialPermissions: [],
      settings: settingValues(USER_SETTINGS, {}),
      editedSettings: [],
    },
    null,
  );
  const { members } = await tx.groups.systemGroupIds(realm.id);
  await tx.groups.addMembers(realm.id, members, [user.id]);
  const message = await tx.messages.append(crashMessage(channel, user.id, name, now()));
  await tx.events.append(realm.id, {
    event: { type: 'user.created', user },
    audience: { kind: 'realm' },
    quotes: message.id,
  });
  await tx.apiKeys.put({ realmId: realm.id, userId: user.id, generation: 1, seed: null }, name);
  return {
    name,
    userId: user.id,
    messageId: message.id,
    ordinal: message.ordinal,
    seq: await tx.events.lastSeq(realm.id),
  };
}

/** Writes until killed. Arguments: the database and a name prefix for this run's changes. */
async function main(path: string, prefix: string): Promise<void> {
  const { uow } = openSqliteStorage({ path, clock: { now, nowMs: Date.now } });
  const { realm, channel } = await uow.readAcross(async (r) => {
    const realm = (await r.realms.list())[0]!;
    return { realm, channel: (await r.channels.listAll(realm.id))[0]! };
  });
  let count = 0;
  const writeOn = async (): Promise<never> => {
    for (;;) {
      const name = `${prefix}-${count++}`;
      const done = await uow.write(realm.id, (tx) => change(tx, realm, channel, name));
      writeSync(1, `${JSON.stringify(done)}\n`);
      await uow
        .write(realm.id, async (tx) => {
          await change(tx, realm, channel, `refused-${name}`);
          await tx.users.setPasswordHash(realm.id, done.userId as UserId, 'refused');
          throw new Error('refused');
        })
        .catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: UNITS_IN_FLIGHT }, writeOn));
}

void main(process.argv[2]!, process.argv[3]!);
