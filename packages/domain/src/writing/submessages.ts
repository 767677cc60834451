import { DomainError } from '../kernel/errors.js';
import type { Caller, MessageId } from '../kernel/ids.js';
import { parseJson } from '../kernel/json.js';
import type { Clock } from '../kernel/ports.js';
import { isLongerThan } from '../kernel/text.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { loadReadable } from '../messages/load-access.js';
import type { Submessage } from '../messages/message.js';
import { messageWatchers } from '../messages/message-delivery.js';
import { applyParticipation } from './automatic-topic-policies.js';
import { type Dictionary, dictionary, flag, integer, JsonShapeError, member, text, wrong } from './widgets.js';

/** Limit per message, since all of them are shown together. */
export const MAX_SUBMESSAGES = 5000;
/** Maximum total length of a message's submessages, in code points. */
export const MAX_SUBMESSAGES_LENGTH = 500_000;
/** In code points. */
export const MAX_SUBMESSAGE_LENGTH = 10_000;
export const MAX_SUBMESSAGE_KIND_LENGTH = 100;

/** Maximum index of an option or task. */
const MAX_INDEX = 1000;

/** @throws DomainError TOO_MANY_SUBMESSAGES */
export function requireRoomForSubmessage(
  { count, length }: { readonly count: number; readonly length: number },
  content: string,
): void {
  if (count >= MAX_SUBMESSAGES) {
    throw new DomainError('TOO_MANY_SUBMESSAGES', `Too many submessages (limit: ${MAX_SUBMESSAGES}).`);
  }
  if (isLongerThan(content, MAX_SUBMESSAGES_LENGTH - length)) {
    throw new DomainError(
      'TOO_MANY_SUBMESSAGES',
      `Too much text in submessages (limit: ${MAX_SUBMESSAGES_LENGTH} characters).`,
    );
  }
}

/**
 * Validates a widget action such as a vote, option or task (messages §15.3). `first`: the message's oldest submessage
 * or null; `isAuthor`: true for the message's author.
 * @throws DomainError INVALID_SUBMESSAGE
 */
export function checkSubmessage(content: string, first: Pick<Submessage, 'content'> | null, isAuthor: boolean): void {
  let data: unknown;
  try {
    data = parseJson(content);
  } catch {
    throw new DomainError('INVALID_SUBMESSAGE', 'Invalid json for submessage');
  }
  const check = CHECKS[widgetTypeOf(first) ?? ''];
  try {
    check?.(data, isAuthor);
  } catch (error) {
    if (error instanceof JsonShapeError) throw new DomainError('INVALID_SUBMESSAGE', error.message);
    throw error;
  }
}

/** The first submessage determines the widget type of the message. */
function widgetTypeOf(first: Pick<Submessage, 'content'> | null): string | null {
  try {
    const type = first && (parseJson(first.content) as { readonly widget_type?: unknown }).widget_type;
    return typeof type === 'string' ? type : null;
  } catch {
    return null;
  }
}

type Check = (data: unknown, isAuthor: boolean) => void;
type Field = (value: unknown, where: string) => unknown;

const index: Field = (value, where) => {
  const number = integer(value, where);
  if (number < 0) throw wrong(`${where} is too small`);
  if (number > MAX_INDEX) throw wrong(`${where} is too large`);
};
const vote: Field = (value, where) => {
  if (![1, -1].includes(integer(value, where))) throw wrong(`Invalid ${where}`);
};

interface Action {
  readonly fields: Readonly<Record<string, Field>>;
  /** Error text if only the author may perform the action. */
  readonly authorOnly?: string;
}

const POLL_ACTIONS: Readonly<Record<string, Action>> = {
  vote: { fields: { key: text, vote } },
  question: {
    fields: { question: text },
    authorOnly: "You can't edit a question unless you are the author.",
  },
  new_option: { fields: { option: text, idx: index } },
};

const TODO_ACTIONS: Readonly<Record<string, Action>> = {
  new_task: { fields: { key: index, task: text, desc: text, completed: flag } },
  strike: { fields: { key: text } },
  new_task_list_title: {
    fields: { title: text },
    authorOnly: "You can't edit the task list title unless you are the author.",
  },
};

const CHECKS: Readonly<Record<string, Check>> = {
  poll: (data, isAuthor) => checkAction('poll data', POLL_ACTIONS, data, isAuthor),
  todo: (data, isAuthor) => checkAction('todo data', TODO_ACTIONS, data, isAuthor),
};

function checkAction(where: string, actions: Readonly<Record<string, Action>>, data: unknown, isAuthor: boolean): void {
  const fields: Dictionary = dictionary(data, where);
  const type = text(member(fields, 'type', where), `${where}["type"]`);
  const action = Object.hasOwn(actions, type) ? actions[type]! : null;
  if (!action) throw wrong(`Unknown type for ${where}: ${type}`);
  if (action.authorOnly !== undefined && !isAuthor) throw wrong(action.authorOnly);
  for (const [name, check] of Object.entries(action.fields)) {
    check(member(fields, name, where), `${where}["${name}"]`);
  }
  const unexpected = Object.keys(fields).filter((name) => name !== 'type' && !Object.hasOwn(action.fields, name));
  if (unexpected.length > 0) throw wrong(`Unexpected arguments: ${unexpected.sort().join(', ')}`);
}

export interface AddSubmessageInput {
  readonly messageId: MessageId;
  readonly kind: string;
  /** JSON. */
  readonly content: string;
}

/** Adds a submessage, such as a poll vote or a task (messages §15.3). */
export class AddSubmessage {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_MESSAGE, CANNOT_ATTACH_SUBMESSAGE, INVALID_SUBMESSAGE, TOO_MANY_SUBMESSAGES */
  execute(caller: Caller, { messageId, kind, content }: AddSubmessageInput): Promise<void> {
    return this.uow.write(caller.realmId, async (tx) => {
      const actor = await tx.actors.get(caller);
      const { realmId, id: senderId } = actor;
      const { message, channel } = await loadReadable(tx, actor, messageId, { modifying: true });
      const isAuthor = message.senderId === senderId;
      const { first, hasOfAuthor, ...present } = await tx.messages.summarizeSubmessages(
        realmId,
        messageId,
        message.senderId,
      );
      if (!isAuthor && !hasOfAuthor) {
        throw new DomainError('CANNOT_ATTACH_SUBMESSAGE', 'You cannot attach a submessage to this message.');
      }
      checkSubmessage(content, first, isAuthor);
      requireRoomForSubmessage(present, content);
      const submessage = await tx.messages.addSubmessage(realmId, { messageId, senderId, kind, content });
      await applyParticipation(tx, actor, message, this.clock.now());
      await tx.events.append(realmId, {
        event: { type: 'message.submessage_added', submessage },
        audience: messageWatchers(message, channel),
        quotes: messageId,
      });
    });
  }
}
