import { Chat, type Narrow } from '@parley/chat';
import { type Message, ParleyClient, ParleyError } from '@parley/client';
import type { Services } from '../src/services/context.js';
import { Drafts } from '../src/services/drafts.js';
import { FieldTexts } from '../src/services/field-texts.js';
import { store } from '../src/services/storage.js';
import { Uploads } from '../src/services/uploads.js';
import recorded from './fixtures/world.json?raw';

export const BASE_URL = new URL('./', location.href).href;

/** Recorded server state and responses, with avatars of the gallery. */
const WORLD = JSON.parse(
  recorded
    .replaceAll(/(https:\/\/gallery\.example)?\/user_(avatars|uploads)\/[^"\\]*\.png[^"\\]*/g, `${BASE_URL}picture.svg`)
    .replaceAll('https://gallery.example/', BASE_URL)
    .replaceAll('https://gallery.example', BASE_URL.slice(0, -1)),
) as {
  readonly state: Readonly<Record<string, unknown>>;
  readonly messages: readonly Message[];
  readonly responses: Readonly<Record<string, unknown>>;
};

/** Organizations in which components are shown. */
export type WorldName = 'full' | 'empty' | 'failing' | 'loading' | 'member' | 'visitor';

const EMOJI = { '1f600': ['grinning'], '1f44b': ['wave'], '1f680': ['rocket'], '1f375': ['tea'] };

const SELF = WORLD.state.user_id as number;

const NEVER = 3;

type State = Record<string, unknown>;

interface Group {
  readonly id: number;
  readonly name: string;
  readonly members: readonly number[];
}

/** Returns the recorded state, the state of an empty organization, or the state of another person. */
function stateOf(name: WorldName): State {
  const state: State = {
    ...WORLD.state,
    // Otherwise one exhibit would mark messages of another as read.
    user_settings: { ...(WORLD.state.user_settings as object), web_mark_read_on_scroll_policy: NEVER },
    server_emoji_data_url: `data:application/json,${JSON.stringify({ code_to_names: EMOJI })}`,
  };
  if (name === 'empty') {
    for (const [key, value] of Object.entries(state)) {
      if (Array.isArray(value) && !KEPT.has(key) && !key.startsWith('server_')) state[key] = [];
    }
    const users = WORLD.state.realm_users as readonly { user_id: number }[];
    state.realm_users = users.filter(({ user_id }) => user_id === SELF);
    state.realm_emoji = {};
    state.user_status = {};
    state.unread_msgs = { count: 0, pms: [], streams: [], huddles: [], mentions: [], old_unreads_missing: false };
  }
  if (name === 'member') {
    const role = { role: 400, is_owner: false, is_admin: false };
    Object.assign(state, role, { is_moderator: false });
    const users = WORLD.state.realm_users as readonly { user_id: number }[];
    state.realm_users = users.map((user) => (user.user_id === SELF ? { ...user, ...role } : user));
    const groups = WORLD.state.realm_user_groups as readonly Group[];
    const nobody = groups.find((group) => group.name === 'role:nobody')!.id;
    state.subscriptions = (WORLD.state.subscriptions as readonly { name: string }[]).map((channel) =>
      channel.name === 'announce' ? { ...channel, can_send_message_group: nobody } : channel,
    );
    state.realm_user_groups = groups.map((group) =>
      group.name.startsWith('role:')
        ? {
            ...group,
            members: [...group.members.filter((id) => id !== SELF), ...(group.name === 'role:members' ? [SELF] : [])],
          }
        : group,
    );
  }
  return state;
}

/** Lists that exist in every organization. */
const KEPT = new Set(['realm_user_groups', 'cross_realm_bots', 'gif_rating_policy_options']);

const never = new Promise<never>(() => {});

/**
 * Simulated server: returns recorded responses, rejects requests, or never responds. Commands succeed without effect.
 */
function serverOf(name: WorldName): typeof fetch {
  const respond = (status: number, body: object) =>
    new Response(JSON.stringify({ result: status === 200 ? 'success' : 'error', msg: '', ...body }), {
      status,
      headers: { 'Content-Type': 'application/json' },
    });
  const isHere = name === 'full' || name === 'member' || name === 'visitor';
  return async (input, { method = 'GET', body } = {}) => {
    const { pathname, searchParams } = new URL(String(input), BASE_URL);
    const path = pathname.replace(/^.*\/(api\/v1|json)/, '');
    if (path === '/register') return respond(200, stateOf(name));
    if (path === '/events' || name === 'loading') return never;
    const isRefused = String(body ?? '').includes('refused');
    if (name === 'failing' || isRefused) {
      return respond(400, { code: 'BAD_REQUEST', msg: 'The reason of the server, in a sentence of usual length' });
    }
    if (path === '/messages' && method === 'GET') {
      const narrow = JSON.parse(searchParams.get('narrow') ?? '[]') as Narrow;
      const messages = isHere ? WORLD.messages.filter((message) => narrow.every((term) => matches(message, term))) : [];
      const ends = { found_newest: true, found_oldest: true, found_anchor: false, history_limited: false };
      return respond(200, { messages, anchor: messages.at(-1)?.id ?? 0, ...ends });
    }
    if (path === '/messages/render') return respond(200, { rendered: '<p>Drawn by the <strong>server</strong></p>' });
    const message = WORLD.messages.find(({ id }) => path === `/messages/${id}`);
    if (message) return respond(200, { message: { ...message, content: 'Text of the **message**' } });
    const shape = (of: string) => of.replaceAll(/\d+/g, '0');
    const known = Object.entries(WORLD.responses).find(([of]) => shape(of) === shape(path));
    return respond(200, known && method === 'GET' ? ((isHere ? known[1] : emptied(known[1])) as object) : {});
  };
}

const emptied = (response: unknown): object =>
  Object.fromEntries(
    Object.entries(response as object).map(([key, value]) => [key, Array.isArray(value) ? [] : value]),
  );

function matches(message: Message, { operator, operand, negated }: Narrow[number]): boolean {
  const { display_recipient: recipient } = message;
  const people = Array.isArray(recipient) ? recipient.map(({ id }) => id) : null;
  const isMatch: Readonly<Record<string, () => boolean>> = {
    channel: () => message.stream_id === operand,
    topic: () => message.subject === operand,
    dm: () => people !== null && [...(operand as number[]), SELF].every((id) => people.includes(id)),
    is: () => (message.flags as readonly unknown[]).includes(operand),
    in: () => true,
    search: () => message.content.includes(String(operand)),
  };
  return (isMatch[operator]?.() ?? false) !== (negated === true);
}

export type World = Omit<Services, 'navigation'>;

/** Opens the real chat on a simulated server. */
export async function openWorld(name: WorldName): Promise<World> {
  const client = new ParleyClient({ url: BASE_URL, credentials: 'host', fetch: serverOf(name), maxRetries: 0 });
  const isVisitor = name === 'visitor';
  const chat = new Chat({ gateway: client, isVisitor });
  void chat.run();
  await new Promise<void>((resolve) => {
    chat.isReady.subscribe((isReady) => isReady && resolve());
  });
  const storageKey = `gallery drafts ${name}`;
  store(storageKey, null);
  return {
    chat,
    client,
    baseUrl: BASE_URL,
    drafts: new Drafts({ storageKey, selfId: SELF, onServer: () => chat.field('drafts') ?? [] }),
    fieldTexts: new FieldTexts(`gallery texts ${name}`),
    uploads: {
      storageKey: `gallery uploads ${name}`,
      opened: new Uploads(
        (file, { onProgress }: { onProgress?: (sent: number, total: number) => void }) => {
          if (file.name.includes('refused'))
            return Promise.reject(new ParleyError('This kind of file is not allowed', 'BAD_REQUEST', 400));
          onProgress?.(2, 5);
          return never;
        },
        () => 10,
      ),
    },
  };
}

export const channelId = (name: string): number =>
  (WORLD.state.subscriptions as readonly { name: string; stream_id: number }[]).find((it) => it.name === name)!
    .stream_id;

export const personId = (name: string): number =>
  (WORLD.state.realm_users as readonly { full_name: string; user_id: number }[]).find(({ full_name }) =>
    full_name.startsWith(name),
  )!.user_id;

/** Returns the id of the recorded message that contains a text. */
export const messageId = (text: string): number => WORLD.messages.find(({ content }) => content.includes(text))!.id;
