import type { EventOf } from '@parley/domain/events';
import { type MessageEventTypes, type MessageLocation, receivedFlags } from '@parley/domain/messages';
import { seesEmailOf } from '@parley/domain/users';
import { presentTopic } from '../channels/channel.presenters.js';
import { type EventContext, keyOf, opened, type Presented, type Presenters } from '../events/event-presenter.js';
import { variantByKey } from '../routing/client-variant.js';
import { differsByViewer, flagsText, messageText } from './message.presenters.js';
import { presentSubmessageAdded } from './submessage.presenters.js';

export const MESSAGE_EVENTS = {
  'message.sent': {
    wireTypes: ['message'],
    // In a direct conversation everybody knows everybody.
    needs: ({ view }) =>
      view.conversation.kind === 'direct' || view.sender.isSystemBot ? null : { userIds: [view.sender.id] },
    present: presentMessageSent,
  },
  'message.submessage_added': { wireTypes: ['submessage'], present: presentSubmessageAdded },
  'message.flag_changed': { wireTypes: ['update_message_flags'], present: presentFlagChange },
} satisfies Presenters<keyof MessageEventTypes>;

/** The message once for all clients of one kind and all receivers with the same flags; the sender's own mark apart. */
function presentMessageSent(event: EventOf<'message.sent'>, context: EventContext): Presented {
  const { presentation, showsEmptyTopics, receiver } = context;
  const { applyMarkdown, clientGravatar } = presentation;
  const { sender } = event.view;
  const hidesSender = receiver.inaccessible.has(sender.id);
  // Most senders look the same to everybody.
  const seesSenderEmail = !differsByViewer(sender) || seesEmailOf({ id: receiver.userId, role: receiver.role }, sender);
  const flags = context.isNotSubscriber ? '[]' : flagsText(receivedFlags(event, receiver.userId));
  const key = keyOf(applyMarkdown, clientGravatar, showsEmptyTopics, hidesSender, seesSenderEmail);
  const message = context.shared(flags === '[]' ? key : `${key}${flags}`, () => {
    const form = {
      asHtml: applyMarkdown,
      clientGravatar,
      allowEmptyTopicName: showsEmptyTopics,
      hidesSender,
      seesSenderEmail,
      client: variantByKey(presentation.client),
      parts: context.messageParts,
    };
    return `{"type":"message","message":${messageText(event.view, context.publicRealm, form)},"flags":${flags}`;
  });
  if (event.echo?.queueId !== context.queue.id) return message;
  return [[message, `,"local_message_id":${JSON.stringify(event.echo.localId)}`]];
}

/** Events §7.1; the details are what clients need to count what became unread again. */
function presentFlagChange(event: EventOf<'message.flag_changed'>, context: EventContext): Presented {
  const { op, flag, messageIds, all, details } = event;
  const { showsEmptyTopics: allowsEmpty } = context;
  const text = () =>
    opened({
      type: 'update_message_flags',
      op,
      operation: op,
      flag,
      messages: messageIds,
      all,
      ...(flag === 'read' &&
        op === 'remove' && {
          message_details: Object.fromEntries(
            details.map(([id, location]) => [id, presentLocation(location, allowsEmpty)]),
          ),
        }),
    });
  return context.shared(keyOf(allowsEmpty), text);
}

function presentLocation(location: MessageLocation, allowEmptyTopicName: boolean) {
  const mentioned = location.isMentioned ? { mentioned: true } : {};
  return location.kind === 'channel'
    ? {
        type: 'stream',
        stream_id: location.channelId,
        topic: presentTopic(location.topic, allowEmptyTopicName),
        unmuted_stream_msg: location.isUnmuted,
        ...mentioned,
      }
    : { type: 'private', user_ids: location.userIds, ...mentioned };
}
