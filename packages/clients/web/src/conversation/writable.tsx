import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { Destination, SendRefusal } from '@parley/chat';
import type { ReactNode } from 'react';
import { useChat, useComputed } from '../services/context.js';
import styles from './conversation-page.module.css';

interface Props {
  readonly destination?: Destination;
  /** Channel in which a topic is still to be chosen. */
  readonly channelId?: number;
  readonly children: ReactNode;
}

/** Shows an input field, or the reason why the user cannot post there. */
export function Writable({ destination, channelId, children }: Props) {
  const chat = useChat();
  const { i18n } = useLingui();
  const refusal = useComputed(() => {
    if (destination) return chat.rights.canSend(destination);
    return channelId === undefined ? null : chat.rights.canPost(channelId);
  }, [chat, destination, channelId]);
  if (refusal === null) return children;
  return <p className={styles.refusal}>{textOf(refusal, i18n)}</p>;
}

const textOf = (refusal: SendRefusal, i18n: I18n): string =>
  ({
    'unknown-channel': i18n._('This channel does not exist, or you are not allowed to see it.'),
    archived: i18n._('This channel is archived.'),
    'not-allowed': i18n._('You do not have permission to post in this channel.'),
    'topic-required': i18n._('Messages in this channel need a topic.'),
    'topic-not-allowed': i18n._('Messages in this channel have no topic.'),
    'new-topic-not-allowed': i18n._('You do not have permission to create new topics in this channel.'),
    'unknown-person': i18n._('You cannot write to people you are not allowed to see.'),
    'deactivated-person': i18n._('You cannot write to people with a deactivated account.'),
    'direct-messages-disabled': i18n._('Direct messages are disabled in this organization.'),
    'nobody-authorizes': i18n._('This conversation does not include any users who can authorize it.'),
    'cannot-start-conversation': i18n._('You do not have permission to start direct message conversations.'),
  })[refusal];
