import { type MessageEdit, type MessageSnapshot, visibleEdits } from '@parley/domain/messages';
import { presentTopic } from '../channels/channel.presenters.js';
import type { MessagePart } from '../delivery/event-presenter.js';
import type { WireFields } from '../wire/reply.js';

/** Message part with edits (messages §2.5); absent if no edits are shown. */
export const EDIT_PART: MessagePart = {
  present: ({ edits = [] }, { editHistory, allowEmptyTopicName }) => {
    const visible = visibleEdits(edits, editHistory);
    return visible.length === 0 ? {} : { edit_history: visible.map((edit) => presentEdit(edit, allowEmptyTopicName)) };
  },
  differsByTopicName: ({ edits = [] }) => edits.some(({ topic }) => topic?.from === '' || topic?.to === ''),
};

const presentEdit = (edit: MessageEdit, allowEmptyTopicName: boolean): WireFields => ({
  user_id: edit.userId,
  timestamp: edit.editedAt,
  ...(edit.previousContent && {
    prev_content: edit.previousContent.content,
    prev_rendered_content: edit.previousContent.rendered,
  }),
  ...(edit.channel && { prev_stream: edit.channel.from, stream: edit.channel.to }),
  ...(edit.topic && {
    prev_topic: presentTopic(edit.topic.from, allowEmptyTopicName),
    topic: presentTopic(edit.topic.to, allowEmptyTopicName),
  }),
});

/** Presents message history (messages §10). `topic` is the topic at that time, even if the channel also changed. */
export const presentMessageHistory = (
  snapshots: readonly MessageSnapshot[],
  { allow_empty_topic_name: allowEmptyTopicName }: { readonly allow_empty_topic_name: boolean },
): WireFields => ({
  message_history: snapshots.map(({ topic, content, rendered, userId, timestamp, isDirect, edit, diff }) => ({
    topic: isDirect ? '' : presentTopic(topic, allowEmptyTopicName),
    content,
    rendered_content: rendered,
    timestamp,
    user_id: userId,
    ...(edit?.topic && { prev_topic: presentTopic(edit.topic.from, allowEmptyTopicName) }),
    ...(edit?.channel && { prev_stream: edit.channel.from, stream: edit.channel.to }),
    ...(edit?.previousContent && {
      prev_content: edit.previousContent.content,
      prev_rendered_content: edit.previousContent.rendered,
      content_html_diff: diff,
    }),
  })),
});
