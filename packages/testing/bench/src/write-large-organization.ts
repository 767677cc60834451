import { writeHistory } from './worlds/history.js';
import { World } from './worlds/world.js';

/** Writes the organization of the browser story `large-organization` to the path on the command line. */
const database = process.argv[2]!;
const world = await World.found(database, null);
const reader = await world.addReader('pw-hamlet@zulip.com', 'hamlet@zulip.com');
const people = await world.addPeople(9999);
const busy = await world.addChannel('busy', [reader, ...people]);
const names = Array.from({ length: 4999 }, (_, n) => `channel ${n + 1}`);
await world.addEmptyChannels(names, reader);
await world.close();
await writeHistory(database, {
  realmId: world.realmId,
  count: 100_000,
  readBy: [reader.id],
  originOf: (n) => ({ channelId: busy, topic: 'long', senderId: people[n % 10]!.id }),
});
