import { expectRefusal, fieldsOf } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestServer, TestUser } from '../testing/test-server.js';

const { server, people } = serverPerSuite();
/** Bot in the members-only group. */
let bot: TestUser;
let system: Awaited<ReturnType<TestServer['systemGroups']>>;

/** Letters used in the tables; `y` means allowed. */
const REFUSALS: Readonly<Record<string, string>> = {
  I: 'Insufficient permission',
  G: 'Not allowed for guest users',
  D: 'User group is deactivated.',
};

const SETTINGS = ['can_manage', 'can_add_members', 'can_remove_members', 'can_join', 'can_leave', 'can_mention'];
const onlyOf = ({ id }: TestUser) => ({ direct_members: [id], direct_subgroups: [] });

type Reply = Awaited<ReturnType<TestServer['post']>>;
type Action = (as: TestUser, id: number) => Promise<Reply>;
const changes =
  (params: (as: TestUser) => object): Action =>
  (as, id) =>
    server.post(`/user_groups/${id}/members`, as, { ...params(as) });
const updates =
  (params: (id: number) => object): Action =>
  (as, id) =>
    server.patch(`/user_groups/${id}`, as, { ...params(id) });

/** Operations on a group with a moderator as member and owners as a subgroup; the caller is a member for leaving. */
const ACTIONS: Readonly<Record<string, Action>> = {
  adds: changes(() => ({ add: [people.cordelia.id] })),
  joins: changes(({ id }) => ({ add: [id] })),
  joinsWithAnother: changes(({ id }) => ({ add: [id, people.cordelia.id] })),
  removes: changes(() => ({ delete: [people.shiva.id] })),
  leaves: changes(({ id }) => ({ delete: [id] })),
  leavesWithAnother: changes(({ id }) => ({ delete: [id, people.shiva.id] })),
  addsGroup: changes(() => ({ add_subgroups: [system.moderators] })),
  removesGroup: changes(() => ({ delete_subgroups: [system.owners] })),
  renames: updates((id) => ({ name: `renamed ${id}` })),
  setsRights: updates(() => ({ can_join_group: { new: system.members } })),
  reactivates: updates(() => ({ deactivated: false })),
  deactivates: (as, id) => server.post(`/user_groups/${id}/deactivate`, as),
};
const NAMES = Object.keys(ACTIONS);

/** Creates another user's group with this one setting granting the holder; the others grant no one. */
async function makeGroup(name: string, holder: TestUser, setting: string | null, isMember: boolean): Promise<number> {
  const nobody = Object.fromEntries(SETTINGS.map((each) => [`${each}_group`, system.nobody]));
  const params = {
    name,
    description: '',
    members: [people.shiva.id, ...(isMember ? [holder.id] : [])],
    subgroups: [system.owners],
    ...nobody,
    ...(setting && { [`${setting}_group`]: onlyOf(holder) }),
  };
  return fieldsOf(await server.post('/user_groups/create', people.iago, params)).group_id as unknown as number;
}

const rowsOf = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));

describe('group permission (users §12.2)', () => {
  beforeAll(async () => {
    system = await server.systemGroups();
    bot = await server.addBot(people.hamlet, 'helper');
    fieldsOf(
      await server.patch('/realm', people.desdemona, { can_manage_all_groups: { new: onlyOf(people.cordelia) } }),
    );
  });

  const callerOf = (name: string): TestUser =>
    ({
      owner: people.desdemona,
      administrator: people.iago,
      member: people.hamlet,
      guest: people.polonius,
      manager: people.cordelia,
      bot,
    })[name]!;

  // Columns follow ACTIONS: adds, joins, joins with another, removes, leaves, leaves with another, adds a group,
  // removes a group, renames, sets permissions, reactivates, deactivates.
  const RULES = rowsOf(`
    member         nothing             IIIIIIIIIIII
    member         can_manage          yyyyyyyyyyyy
    member         can_add_members     yyyIIIyIIIII
    member         can_remove_members  IIIyyyIIIIII
    member         can_join            IyIIIIIIIIII
    member         can_leave           IIIIyIIIIIII
    member         can_mention         IIIIIIIIIIII
    manager        nothing             yyyyyyyyyyyy
    owner          nothing             IIIIIIIIIIII
    administrator  nothing             IIIIIIIIIIII
    bot            nothing             IIIIIIIIIIII
    bot            can_manage          yyyyyyyyyyyy
    bot            can_join            IyIIIIIIIIII
    guest          nothing             GGGGGGGGGGGG
    guest          can_leave           GGGGGGGGGGGG`);

  it.each(RULES)('gives a %s with %s these verdicts: %s', async (caller, holds, cells) => {
    const as = callerOf(caller!);
    const setting = holds === 'nothing' ? null : holds!;
    for (const isInUse of [true, false]) {
      const make = async (action: string): Promise<number> => {
        const isMember = action.startsWith('leaves');
        const id = await makeGroup(`${caller} ${holds} ${action} ${isInUse}`, as, setting, isMember);
        if (!isInUse) fieldsOf(await server.post(`/user_groups/${id}/deactivate`, people.cordelia));
        return id;
      };
      // Rejected operations change nothing, so they can share a group.
      const refusing = { leaves: await make('leaves or not'), else: await make('or not') };
      for (const [index, cell] of [...cells!].entries()) {
        const action = NAMES[index]!;
        // Deactivated groups allow all changes except deactivation.
        const verdict = !isInUse && action === 'deactivates' && cell !== 'G' ? 'D' : cell;
        const id = verdict === 'y' ? await make(action) : action.startsWith('leaves') ? refusing.leaves : refusing.else;
        await expectVerdict(verdict, await ACTIONS[action]!(as, id), `${caller} with ${holds} ${action}, ${isInUse}`);
      }
    }
  });

  it.each(NAMES)('rejects changes to system groups: %s', async (action) => {
    for (const id of [system.everyone, system.members, system.owners]) {
      for (const caller of ['owner', 'manager']) {
        const reply = await ACTIONS[action]!(callerOf(caller), id);
        expectRefusal(reply, REFUSALS.I!);
      }
    }
  });

  it.each(
    rowsOf(`
      members         owner:y administrator:y member:y bot:y guest:G
      administrators  owner:y administrator:y member:I bot:I guest:G
      nobody          owner:I administrator:I member:I bot:I guest:G`),
  )('applies the permission to create groups for %s: %s %s %s %s %s', async (group, ...cells) => {
    const id = system[group as keyof typeof system];
    const set = (value: number) => server.patch('/realm', people.desdemona, { can_create_groups: { new: value } });
    fieldsOf(await set(id));
    for (const cell of cells) {
      const [caller, verdict] = cell.split(':') as [string, string];
      const params = { name: `by ${caller} ${group}`, description: '', members: [] };
      const reply = await server.post('/user_groups/create', callerOf(caller), params);
      await expectVerdict(verdict, reply, `${caller} creates`);
    }
    fieldsOf(await set(system.members));
  });
});

async function expectVerdict(verdict: string, reply: Reply, what: string): Promise<void> {
  try {
    if (verdict === 'y') fieldsOf(reply);
    else expectRefusal(reply, REFUSALS[verdict]!);
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message}`);
  }
}
