import type { MessageEvent, UpdateMessageEvent } from '@parley/client';
import type { Destination } from '../kernel/narrow.js';
import { type ChatState, type EventRules, type StoredMessage, withoutMark } from '../kernel/state.js';
import {
  addUnread,
  changeMentions,
  destinationOfMessage,
  forgetUnread,
  inTopic,
  markRead,
  markUnread,
  moveUnread,
} from './unread.js';

export const MESSAGE_RULES: Pick<
  EventRules,
  'message' | 'update_message' | 'delete_message' | 'update_message_flags' | 'reaction' | 'submessage' | 'attachment'
> = {
  message: receive,
  update_message: update,
  delete_message(state, { message_ids: ids }) {
    lose(state, ids);
    for (const id of ids) state.messages.delete(id);
  },
  update_message_flags(state, event) {
    const { flag, messages: ids } = event;
    const isAll = event.op === 'add' && event.all;
    if (!isAll) own(state, ids);
    if (flag === 'starred') {
      for (const id of ids) {
        if (event.op === 'add') state.starred.set(id, true);
        else state.starred.delete(id);
      }
    }
    if (flag === 'read') {
      if (event.op === 'add') markRead(state, isAll ? null : ids);
      else for (const id of ids) if (event.message_details?.[id]) markUnread(state, id, event.message_details[id]);
    }
    const marked = isAll ? [...state.messages.all().keys()] : ids;
    for (const id of marked) {
      state.messages.change(id, (message) => ({
        ...message,
        flags: withFlag(message.flags, flag, event.op === 'add'),
      }));
    }
  },
  reaction(state, { type: _, op, id: __, message_id, user: ___, ...reaction }) {
    if (op === 'add' && reaction.user_id === state.selfId) own(state, [message_id]);
    state.messages.change(message_id, (message) => {
      const others = message.reactions.filter(
        (each) =>
          each.user_id !== reaction.user_id ||
          each.emoji_code !== reaction.emoji_code ||
          each.reaction_type !== reaction.reaction_type,
      );
      return { ...message, reactions: op === 'add' ? [...others, reaction] : others };
    });
  },
  submessage(state, { type: _, id: __, submessage_id: id, ...submessage }) {
    state.messages.change(submessage.message_id, (message) => ({
      ...message,
      submessages: [...message.submessages.filter((each) => each.id !== id), { id, ...submessage }],
    }));
  },
  attachment: (state) => state.revise('attachments'),
};

export function withFlag(flags: readonly string[], flag: string, isSet: boolean): string[] {
  const others = flags.filter((each) => each !== flag);
  return isSet ? [...others, flag] : others;
}

/** Adds messages to the user's own, after receipt or a flag change. */
function own(state: ChatState, ids: readonly number[]): void {
  state.fields.change('max_message_id', (newest) => ids.reduce((a, b) => Math.max(a, b), newest));
}

/** Removes messages from the user's own. */
function lose(state: ChatState, ids: readonly number[]): void {
  forgetUnread(state, ids);
  for (const id of ids) state.starred.delete(id);
}

function receive(state: ChatState, { message, flags, local_message_id: localId }: MessageEvent): void {
  const { id } = message;
  own(state, [id]);
  const destination = destinationOfMessage(state, message);
  if (!flags.includes('read')) addUnread(state, id, destination, flags);
  if (flags.includes('starred')) state.starred.set(id, true);
  if (destination.kind === 'direct') {
    const key = destination.userIds.join(',');
    state.recentDirects.set(key, { userIds: destination.userIds, maxMessageId: id });
  } else {
    state.channels.change(destination.channelId, (entry) =>
      entry.channel.first_message_id === null
        ? { ...entry, channel: { ...entry.channel, first_message_id: id } }
        : entry,
    );
  }
  state.messages.set(id, { ...message, flags, ...(localId !== undefined && { localId }) });
}

/**
 * Applies an edit or a move (messages §18.2): subscribers of the new channel keep messages, and gain them if history is
 * protected.
 */
function update(state: ChatState, event: UpdateMessageEvent): void {
  const { message_id: id, message_ids: ids } = event;
  if (event.content !== undefined) {
    changeMentions(state, id, event.flags);
    state.messages.change(id, (message) => edited(message, event));
  }
  if (event.rendering_only || event.propagate_mode === undefined) return;
  const { stream_id: from, new_stream_id: to, subject = null } = event;
  const target = to === undefined ? undefined : state.channels.peek(to);
  if (to !== undefined && !state.hasOwnMessages(to)) lose(state, ids);
  else moveUnread(state, ids, to ?? from!, subject);
  if (to !== undefined && target?.membership === 'subscribed' && !target.channel.history_public_to_subscribers) {
    own(state, ids);
  }
  // The mark of resolved topics is not a move (messages §2.5).
  const isMove = to !== undefined || withoutMark(event.orig_subject ?? '') !== withoutMark(subject ?? '');
  for (const each of ids) {
    state.messages.change(each, (message) => ({
      ...message,
      ...(to !== undefined && { stream_id: to, display_recipient: target?.channel.name ?? message.display_recipient }),
      ...(subject !== null && { subject, topic_links: event.topic_links ?? [] }),
      ...(isMove && { last_moved_timestamp: event.edit_timestamp }),
    }));
  }
}

export interface TopicMove {
  readonly from: Destination;
  readonly to: Destination;
}

/** Returns the topic and its new place if all its messages were moved; null for other changes. */
export function moveOfTopic(event: UpdateMessageEvent): TopicMove | null {
  if (event.rendering_only || event.propagate_mode !== 'change_all' || event.stream_id === undefined) return null;
  const { stream_id, orig_subject = '', new_stream_id = stream_id, subject = orig_subject } = event;
  if (new_stream_id === stream_id && subject === orig_subject) return null;
  return { from: inTopic(stream_id, orig_subject), to: inTopic(new_stream_id, subject) };
}

function edited(message: StoredMessage, event: UpdateMessageEvent): StoredMessage {
  return {
    ...message,
    content: event.rendered_content ?? message.content,
    flags: [...event.flags],
    ...(!event.rendering_only && {
      last_edit_timestamp: event.edit_timestamp,
      is_me_message: event.is_me_message ?? message.is_me_message,
    }),
  };
}
