import { ApiUser } from '../harness/api.js';
import { formatNumber } from '../harness/table.js';
import type { Figure, Workload } from '../workload.js';
import { managedOrganization } from '../worlds/worlds.js';

const MEMBER = '400';
const GUEST = '600';

/** Administrators of a large organization change roles and group members. */
export const people: Workload = {
  name: 'people',
  async run(lab) {
    const { database, contents } = await lab.copyOf(managedOrganization);
    const parley = await lab.serve(database);
    const owner = await ApiUser.signIn(parley, contents.owner.email);
    const all = contents.people.map(({ id }) => id);
    const { group_id } = (await owner.post('/api/v1/user_groups/create', {
      name: 'everybody',
      description: '',
      members: JSON.stringify(all),
    })) as { group_id: number };
    const load = lab.load();
    const times = lab.size(40, 2);
    const some = all.slice(-times);
    const p50Of = async (requests: readonly string[]): Promise<number> =>
      (await load.run({ port: parley.port, requests, inFlight: 1, until: { answers: requests.length } })).p50Ms;
    const roles = (role: string) =>
      some.map((id) => owner.text({ method: 'PATCH', path: `/api/v1/users/${id}`, form: { role } }));
    const members = (part: 'add' | 'delete') =>
      some.map((id) =>
        owner.text({
          method: 'POST',
          path: `/api/v1/user_groups/${group_id}/members`,
          form: { [part]: JSON.stringify([id]) },
        }),
      );
    const [lowered, raised] = [await p50Of(roles(GUEST)), await p50Of(roles(MEMBER))];
    const [removed, added] = [await p50Of(members('delete')), await p50Of(members('add'))];
    const figure = (label: string, ms: number, atMost: number): Figure => ({
      label,
      ours: `${formatNumber(ms)} ms`,
      limit: '',
      value: ms,
      goal: { atMost, unit: 'ms' },
    });
    const scope = `among ${formatNumber(all.length)} users and ${formatNumber(contents.channelCount)} channels`;
    const group = `a group of ${formatNumber(all.length)}`;
    return [
      figure(`a member becomes a guest ${scope}`, lowered, 100),
      figure(`a guest becomes a member ${scope}`, raised, 100),
      figure(`a member leaves ${group}`, removed, 20),
      figure(`a member joins ${group}`, added, 20),
    ];
  },
};
