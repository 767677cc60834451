import type { Caller } from '../kernel/caller.js';
import type { ChannelId, MessageId, UserId } from '../kernel/ids.js';

/** Where a message is to go, as far as that is known before anything is checked; null: it cannot be known. */
export type HookedDestination =
  | { readonly kind: 'channel'; readonly id: ChannelId | null; readonly name: string | null }
  | { readonly kind: 'direct'; readonly userIds: readonly UserId[] };

/** What somebody is about to send: nothing of it is checked yet. */
export interface HookedMessage {
  readonly destination: HookedDestination;
  /** As typed; null: not given, or a direct message. */
  readonly topic: string | null;
  /** Markdown, as typed. */
  readonly content: string;
}

/**
 * What the host application has to say to messages before they are sent or edited. Called outside of units; a refusal is a
 * DomainError, after which nothing is changed.
 */
export interface MessageHooks {
  /** Whether anybody wants to be asked; nothing is looked up for `beforeSend` otherwise. */
  readonly asksBeforeSend: boolean;
  /** Answers what is sent instead. @throws DomainError MESSAGE_REFUSED, SERVER_BUSY when it takes too long */
  beforeSend(caller: Caller, message: HookedMessage): Promise<Pick<HookedMessage, 'topic' | 'content'>>;
  /** The same of a text that takes the place of another one. @throws DomainError MESSAGE_REFUSED, SERVER_BUSY */
  beforeEdit(caller: Caller, edit: { readonly messageId: MessageId; readonly content: string }): Promise<string>;
}

/** Nobody wants to be asked. */
export const NO_HOOKS: MessageHooks = {
  asksBeforeSend: false,
  beforeSend: async (_caller, message) => message,
  beforeEdit: async (_caller, { content }) => content,
};
