import type { OpenCall, Way } from '../children/facade.js';
import { interleave } from '../harness/interleave.js';
import { ratioOf } from '../harness/table.js';
import type { Figure, Workload } from '../workload.js';
import { team } from '../worlds/worlds.js';

/** Overhead of the application facade compared with its use cases. */
export const facade: Workload = {
  name: 'facade',
  async run(lab) {
    const { database, contents } = await lab.copyOf(team);
    const child = lab.start('facade', { seat: 'server' });
    const opened: OpenCall = {
      database,
      userIds: contents.people.map(({ id }) => id),
      channelId: contents.channelId,
    };
    await child.call('open', opened);
    const measure = async (what: 'sends' | 'pages', label: string, count: number): Promise<Figure> => {
      const taking = (way: Way) => () => child.call<number>(what, { way, count });
      const rounds = await interleave(lab.rounds, { facade: taking('facade'), direct: taking('direct') });
      return {
        label,
        ...ratioOf(rounds.facade, rounds.direct, '/s'),
        goal: { atLeast: 0.9 },
      };
    };
    return [
      await measure('sends', 'sending by parley.as ÷ by the use case', lab.size(4000, 20)),
      await measure('pages', 'a page of 20 messages by parley.as ÷ by the use case', lab.size(4000, 20)),
    ];
  },
};
