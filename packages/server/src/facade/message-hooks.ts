import {
  type Caller,
  DomainError,
  type JsonObject,
  type MessageId,
  parseHostData,
  type Timers,
  type UserId,
} from '@parley/domain/kernel';
import { FindHostUsers } from '@parley/domain/membership';
import type { HookedMessage, MessageHooks } from '@parley/domain/writing';
import { RealmResolver } from '../kernel/realm-resolver.js';
import { described, object, oneOf, optional } from '../kernel/values.js';
import { argument, CHECKED_BY_USE, FUNCTION, properties } from './argument-types.js';
import type { ChatPerson } from './chat-messages.js';

interface DraftHead {
  readonly realm: string;
  readonly sender: ChatPerson;
  /** Client name. */
  readonly client: string;
  /** Markdown as typed. */
  readonly content: string;
}

/** Message about to be sent. It has not been validated and may still be rejected. */
export interface OutgoingMessage extends DraftHead {
  /** Null for direct messages. Its properties are null for unknown channels. */
  readonly channel: { readonly id: number | null; readonly name: string | null } | null;
  /** Topic as given; null for a direct message or if none was given. */
  readonly topic: string | null;
  /** Recipients of a direct message; empty in channels. */
  readonly people: readonly ChatPerson[];
  /** Data of your application; `{}` if there is none. */
  readonly data: JsonObject;
}

/** New text of an existing message. */
export interface OutgoingEdit extends DraftHead {
  readonly messageId: number;
}

export interface HookTypes {
  'message.send': {
    readonly asked: OutgoingMessage;
    /** `data` replaces the message's data. */
    readonly change: { readonly content?: string; readonly topic?: string; readonly data?: JsonObject };
  };
  'message.edit': { readonly asked: OutgoingEdit; readonly change: { readonly content?: string } };
}

/** Returns changes, or nothing to leave the message unchanged. Throws `refuse(text)` to reject it. */
export type Hook<T extends keyof HookTypes> = (
  asked: HookTypes[T]['asked'],
  // biome-ignore lint/suspicious/noConfusingVoidType: functions that answer nothing are welcome, asynchronous ones too.
) => Promise<HookTypes[T]['change'] | void> | HookTypes[T]['change'] | void;

export interface HookOptions {
  /** Timeout in milliseconds after which the message is rejected; default: 2000, at most 10,000. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = { default: 2000, most: 10_000 } as const;

const HOOK_TYPE = described(oneOf(['message.send', 'message.edit']), 'the name of a hook');
const OPTIONS = object({ timeoutMs: optional(CHECKED_BY_USE) });

/** Creates the error with which a hook rejects a message; users see the text. */
export const refuse = (text: string): DomainError => new DomainError('MESSAGE_REFUSED', text);

interface AddedHook<T extends keyof HookTypes> {
  readonly hook: Hook<T>;
  readonly timeoutMs: number;
}

/** Calls the host application's hooks in sequence, each with the result of the previous one. */
export class HostHooks implements MessageHooks {
  static readonly inject = [FindHostUsers, RealmResolver, 'timers'] as const;

  private readonly hooks: { readonly [T in keyof HookTypes]: Set<AddedHook<T>> } = {
    'message.send': new Set(),
    'message.edit': new Set(),
  };

  constructor(
    private readonly users: FindHostUsers,
    private readonly realms: RealmResolver,
    private readonly timers: Timers,
  ) {}

  /** Returns a function that removes the hook. */
  before<T extends keyof HookTypes>(type: T, hook: Hook<T>, options: HookOptions = {}): () => void {
    argument('The type', HOOK_TYPE, type);
    argument('The hook', FUNCTION, hook);
    const { timeoutMs = TIMEOUT_MS.default } = properties('The options', OPTIONS, options);
    if (!(timeoutMs > 0 && timeoutMs <= TIMEOUT_MS.most)) {
      throw new RangeError(`timeoutMs must be a number above 0 and at most ${TIMEOUT_MS.most}.`);
    }
    const hooks = this.hooks[type];
    const added = { hook, timeoutMs };
    hooks.add(added);
    return () => void hooks.delete(added);
  }

  get asksBeforeSend(): boolean {
    return this.hooks['message.send'].size > 0;
  }

  async beforeSend(caller: Caller, message: HookedMessage): Promise<Omit<HookedMessage, 'destination'>> {
    const { destination } = message;
    const people = destination.kind === 'direct' ? destination.userIds : [];
    const { realm, person } = await this.describe(caller, people);
    let draft: OutgoingMessage = {
      realm,
      sender: person(caller.userId),
      client: caller.clientName,
      channel: destination.kind === 'channel' ? { id: destination.id, name: destination.name } : null,
      topic: message.topic,
      people: people.map(person),
      content: message.content,
      data: message.data,
    };
    for (const added of this.hooks['message.send']) {
      const { content, topic, data } = await this.ask('message.send', added, draft);
      draft = {
        ...draft,
        content: content ?? draft.content,
        topic: topic ?? draft.topic,
        data: data === undefined ? draft.data : parseHostData(data),
      };
    }
    return { content: draft.content, topic: draft.topic, data: draft.data };
  }

  async beforeEdit(caller: Caller, edit: { readonly messageId: MessageId; readonly content: string }): Promise<string> {
    if (this.hooks['message.edit'].size === 0) return edit.content;
    const { realm, person } = await this.describe(caller, []);
    let asked: OutgoingEdit = { realm, sender: person(caller.userId), client: caller.clientName, ...edit };
    for (const added of this.hooks['message.edit']) {
      const { content } = await this.ask('message.edit', added, asked);
      asked = { ...asked, content: content ?? asked.content };
    }
    return asked.content;
  }

  private async describe({ realmId, userId }: Caller, others: readonly UserId[]) {
    const realm = (await this.realms.stringIdOf(realmId)) ?? '';
    const people = await this.users.describe(realmId, [...new Set([userId, ...others])]);
    const person = (id: UserId): ChatPerson => {
      const found = people.get(id);
      return { id, externalId: found?.externalId ?? null, name: found?.user.fullName ?? 'Unknown user' };
    };
    return { realm, person };
  }

  private async ask<T extends keyof HookTypes>(
    type: T,
    { hook, timeoutMs }: AddedHook<T>,
    asked: HookTypes[T]['asked'],
  ): Promise<HookTypes[T]['change']> {
    let cancel = () => {};
    const late = new Promise<never>((_, reject) => {
      cancel = this.timers.after(timeoutMs, () =>
        reject(new DomainError('SERVER_BUSY', `The hook '${type}' timed out.`, { retryAfter: 1 })),
      );
    });
    try {
      const change = (await Promise.race([hook(asked), late])) ?? {};
      for (const [name, value] of Object.entries(change)) {
        if (name !== 'data' && value !== undefined && typeof value !== 'string')
          throw new TypeError(`${name} must be a string`);
      }
      return change as HookTypes[T]['change'];
    } finally {
      cancel();
    }
  }
}
