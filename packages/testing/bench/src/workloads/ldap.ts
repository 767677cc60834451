import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { ApiUser } from '../harness/api.js';
import { DirectoryServer } from '../harness/directory-server.js';
import { formatNumber } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { team } from '../worlds/worlds.js';
import { SENDS_PER_SECOND, waitMeanwhile } from './windows.js';

/** Delay after the start until a server synchronizes its directories. */
const FIRST_SYNC_MS = 60_000;
const LOOK_EVERY_MS = 50;
const WINDOW_SECONDS = 5;

/** First LDAP sync, which creates all people, while other users send messages. */
export const ldap: Workload = {
  name: 'ldap',
  async run(lab) {
    const people = lab.size(10_000, 50);
    const directory = await DirectoryServer.start(people);
    const { database, contents } = await lab.copyOf(team);
    const rows = new Database(database, { readonly: true });
    try {
      const parley = await lab.serve(database, [], { PARLEY_LDAP: directory.settingFor('bench') });
      const beginsAt = performance.now() + FIRST_SYNC_MS;
      const author = await ApiUser.signIn(parley, contents.people[0]!.email);
      const linked = rows.prepare('SELECT count(*) FROM linked_account').pluck();
      const channelIds = [contents.channelId, contents.channelId];
      const label = () => `${formatNumber(people)} people of an LDAP directory get accounts`;
      let seconds = 0;
      // The first window precedes the synchronization.
      await delay(FIRST_SYNC_MS - lab.size(WINDOW_SECONDS, 0.2) * 1000);
      const waits = await waitMeanwhile(lab, parley, author, { channelIds }, WINDOW_SECONDS, label, async () => {
        while ((linked.get() as number) < people) await delay(LOOK_EVERY_MS);
        seconds = (performance.now() - beginsAt) / 1000;
      });
      return [
        {
          label: `${label()}, beside ${SENDS_PER_SECOND} sends/s`,
          ours: `${formatNumber(seconds)} s`,
          limit: '',
          value: seconds,
          goal: { atMost: 60, unit: 's' },
        },
        waits,
      ];
    } finally {
      rows.close();
      await directory.stop();
    }
  },
};
