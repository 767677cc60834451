import type { WireWorld as World, WorldPerson } from '../testing/wire-world.js';

export type Fields = Readonly<Record<string, unknown>>;

/** One successful call of an operation, and what clients hear of it. */
export interface Scenario {
  readonly title: string;
  /** At the root, and answered by a page. */
  readonly isPage?: boolean;
  /** Null: nobody signed in. */
  readonly as: WorldPerson | null;
  /** Before the clients register. */
  readonly given?: ((world: World) => Promise<unknown>) | undefined;
  /** Of a form with files, instead of parameters. */
  readonly body?: Buffer | string;
  /** Of such a body; default: those of a form with files. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the answer, where it is none of the usual form. */
  readonly status?: number;
  readonly params?: Fields | ((world: World) => Fields | Promise<Fields>);
  /** Instead of the parameters in the route's path. */
  readonly at?: (world: World) => Fields;
  /** `type/op` of every event that any client hears. */
  readonly heard: readonly string[];
}

/** By its route. */
export type Scenarios = Readonly<Record<string, readonly Scenario[]>>;

export const MESSAGE = ['message'];

export const FLAGS_ADDED = ['update_message_flags/add'];

/** A sender follows the topics they start (messages §4.4). */
export const FOLLOWED = ['muted_topics', 'user_topic'];

export const CREATED = ['stream/create'];

export const HIDDEN = ['stream/delete'];

/** Somebody new, or new to a guest. */
export const ACQUAINTED = ['realm_user/add'];

export const LOST = ['realm_user/remove'];

export const toTown =
  (topic: string) =>
  ({ channels }: World): Fields => ({ type: 'channel', to: channels.town, topic });

export const SMILE = { emoji_name: 'smile' };

export const toMessage =
  (index: number) =>
  ({ messages }: World): Fields => ({ message_id: messages[index] });

export const systemGroups = ({ server }: Pick<World, 'server'>) => server.systemGroups();

export function twoDrafts({ channels }: World): Fields {
  const draft = { type: 'stream', to: [channels.town], topic: 'news', content: 'to be continued' };
  return { drafts: [draft, { ...draft, timestamp: 5 }] };
}

export function keepDraft(world: World): Promise<unknown> {
  return world.server.post('/drafts', world.people.hamlet, twoDrafts(world));
}
