import { fieldsOf } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const FORBIDDEN = "You don't have permission to delete this message";
const TOO_LATE = 'The time limit for deleting this message has passed';
const LIMIT_SECONDS = 600;

const WHOSE = ['own', "another's", "their bot's", "another's bot's"] as const;
const CONVERSATIONS = ['channel', 'direct'] as const;

interface Cell {
  readonly name: string;
  readonly caller: TestUser;
  readonly whose: (typeof WHOSE)[number];
  readonly conversation: (typeof CONVERSATIONS)[number];
  readonly isLate: boolean;
  readonly messageId: number;
}

/** Setting that grants permission to the team; the other three settings grant it to nobody. */
type Grant = 'none' | 'organization, own' | 'organization, any' | 'channel, own' | 'channel, any';

let callers: readonly TestUser[];
let team: readonly TestUser[];
let teamId: number;
const bots = new Map<TestUser, TestUser>();

const { server } = serverPerSuite();
beforeAll(async () => {
  const { desdemona, iago, shiva, hamlet, cordelia, polonius } = server.people;
  callers = [desdemona, iago, shiva, hamlet, cordelia, polonius];
  team = [shiva, hamlet, polonius];
  const group = { name: 'team', description: '', members: team.map(({ id }) => id) };
  teamId = fieldsOf(await server.post('/user_groups/create', desdemona, group)).group_id as unknown as number;
  for (const [index, caller] of callers.entries()) bots.set(caller, await server.addBot(caller, `bot${index}`));
});

/** Expected response by the rows of messages §11. */
function expectedResponse({ caller, whose, conversation, isLate }: Cell, grant: Grant): string {
  const isInTeam = team.includes(caller);
  // A setting that excludes guests grants them nothing, even through a group.
  if (grant === 'organization, any' && isInTeam && caller.user.role !== 'guest') return '';
  if (grant === 'channel, any' && isInTeam && conversation === 'channel') return '';
  if (whose === "another's" || whose === "another's bot's") return FORBIDDEN;
  const mayDeleteOwn =
    isInTeam && (grant === 'organization, own' || (grant === 'channel, own' && conversation === 'channel'));
  if (!mayDeleteOwn) return FORBIDDEN;
  return isLate ? TOO_LATE : '';
}

it.each<Grant>(['none', 'organization, own', 'organization, any', 'channel, own', 'channel, any'])(
  'each role can delete what messages §11 permits if the team is granted: %s',
  async (grant) => {
    const { desdemona } = server.people;
    const { nobody } = await server.systemGroups();
    const settingsOf = (level: string) => ({
      can_delete_own_message_group: grant === `${level}, own` ? teamId : nobody,
      can_delete_any_message_group: grant === `${level}, any` ? teamId : nobody,
    });
    const ofRealm = Object.entries(settingsOf('organization')).map(([name, value]) => [name, { new: value }]);
    fieldsOf(
      await server.patch('/realm', desdemona, {
        ...Object.fromEntries(ofRealm),
        message_content_delete_limit_seconds: LIMIT_SECONDS,
      }),
    );
    const channel = await server.createChannel(`granted ${grant}`, callers, settingsOf('channel'));

    const send = async (isLate: boolean): Promise<Cell[]> => {
      const cells: Cell[] = [];
      for (const caller of callers)
        for (const whose of WHOSE)
          for (const conversation of CONVERSATIONS) {
            const another = callers[(callers.indexOf(caller) + 1) % callers.length]!;
            const sender = {
              own: caller,
              "another's": another,
              "their bot's": bots.get(caller)!,
              "another's bot's": bots.get(another)!,
            }[whose];
            const direct = whose === 'own' ? [another] : [caller];
            const messageId = await server.sendMessage(sender, conversation === 'channel' ? channel : direct);
            const age = isLate ? 'late' : 'in time';
            const name = `${caller.user.fullName}: ${whose}, ${conversation}, ${age}`;
            cells.push({ name, caller, whose, conversation, isLate, messageId });
          }
      return cells;
    };
    const late = await send(true);
    server.clock.advance(1);
    const inTime = await send(false);
    server.clock.advance(LIMIT_SECONDS);

    const responses: Record<string, string> = {};
    const expected: Record<string, string> = {};
    for (const cell of [...late, ...inTime]) {
      responses[cell.name] = (await server.delete(`/messages/${cell.messageId}`, cell.caller)).body.msg;
      expected[cell.name] = expectedResponse(cell, grant);
    }
    expect(responses).toEqual(expected);
  },
);
