import { useLingui } from '@lingui/react';
import { type Chat, type Destination, narrowOf } from '@parley/chat';
import { MessageCircle } from 'lucide-react';
import { useEffect, useState } from 'react';
import { ErrorBoundary, Page, useContentWorld, Workspace } from '../app/app.js';
import { ConnectionLine } from '../app/connection-line.js';
import { FailureLine } from '../app/failure-line.js';
import { ContentContext } from '../content/message-body.js';
import { UnreadBadge } from '../kit/badge.js';
import { OverlayHost } from '../kit/overlay-host.js';
import { useAddress, useComputed, useServices } from '../services/context.js';
import { Sidebar } from '../sidebar/sidebar.js';
import styles from './element.module.css';

/** Attributes of the element; null for absent ones. */
export interface Shown {
  readonly view: string | null;
  readonly channel: string | null;
  readonly topic: string | null;
  readonly direct: string | null;
}

/** Events of the element and their `detail`. */
export interface ElementEvents {
  /** Number of unread messages: of the conversation that the attributes name, else of all. */
  readonly 'parley-unread': { readonly count: number };
  /** A message was written; it is sent now or once there is a connection. */
  readonly 'parley-sent': { readonly destination: Destination; readonly content: string };
  /** A link to a place of the chat was followed. `preventDefault()` leaves the element where it is. */
  readonly 'parley-open': { readonly address: string };
  /** The name or picture of a person was clicked. `preventDefault()` keeps the card of the chat closed. */
  readonly 'parley-person': { readonly userId: number };
}

export interface ViewProps {
  readonly shown: Shown;
  readonly tell: <N extends keyof ElementEvents>(name: N, detail: ElementEvents[N]) => boolean;
}

/** View that the attributes of the element name. */
export function ElementView({ shown, tell }: ViewProps) {
  const { i18n } = useLingui();
  const services = useServices();
  const { chat, navigation } = services;
  const { channel, topic, direct } = shown;
  const start = useComputed(() => startOf(chat, { channel, topic, direct }), [chat, channel, topic, direct]);
  useEffect(() => {
    if (start !== null) navigation.navigate(start);
  }, [start, navigation]);
  useUnread(start, tell);
  const view = shown.view ?? (channel === null && direct === null ? 'chat' : 'conversation');
  if (start === null) return <p className={styles.line}>{i18n._('There is no such conversation.')}</p>;
  if (view === 'list') return <List />;
  if (view === 'button') return <PanelButton isWhole={channel === null && direct === null} start={start} />;
  return view === 'chat' ? <Workspace /> : <Conversation />;
}

/** Address of the conversation that the attributes name; null if there is none, or the user may not see it. */
export function startOf(chat: Chat, { channel, topic, direct }: Omit<Shown, 'view'>): string | null {
  if (direct !== null) {
    const userIds = direct.split(',').map(Number);
    if (userIds.some((id) => chat.state.people.get(id) === undefined)) return null;
    const others = userIds.filter((id) => id !== chat.state.selfId);
    const narrow = narrowOf({ kind: 'direct', userIds: others });
    return chat.formatAddress({ view: 'narrow', narrow, near: null });
  }
  if (channel === null) return '#inbox';
  const channelId = channelIdOf(chat, channel);
  if (channelId === null) return null;
  const narrow =
    topic === null
      ? [{ operator: 'channel' as const, operand: channelId }]
      : narrowOf({ kind: 'channel', channelId, topic });
  return chat.formatAddress({ view: 'narrow', narrow, near: null });
}

function channelIdOf({ state }: Chat, channel: string): number | null {
  const wanted = channel.toLowerCase();
  const found = state.channels.values().find(({ channel: { name } }) => name.toLowerCase() === wanted);
  if (found) return found.channel.stream_id;
  const id = Number(channel);
  return state.channels.get(id) === undefined ? null : id;
}

/** Tells the host how many messages are unread, at the start and whenever it changes. */
function useUnread(start: string | null, tell: ViewProps['tell']): void {
  const { chat } = useServices();
  const count = useComputed(() => unreadIn(chat, start), [chat, start]);
  useEffect(() => {
    tell('parley-unread', { count });
  }, [tell, count]);
}

function unreadIn(chat: Chat, start: string | null): number {
  const address = start === null ? null : chat.parseAddress(start);
  return chat.sidebar.unreadIn(address?.view === 'narrow' ? address.narrow : []).count;
}

/** One conversation without the others. */
function Conversation() {
  const { i18n } = useLingui();
  const { hash } = useAddress();
  return (
    <ContentContext.Provider value={useContentWorld()}>
      <section className={styles.conversation} aria-label={i18n._('Chat')}>
        <ConnectionLine />
        <FailureLine />
        <ErrorBoundary key={hash} text={i18n._('This page could not be shown.')}>
          <Page />
        </ErrorBoundary>
      </section>
      <OverlayHost />
    </ContentContext.Provider>
  );
}

function List() {
  return (
    <>
      <div className={styles.list}>
        <Sidebar />
      </div>
      <OverlayHost />
    </>
  );
}

interface PanelProps {
  readonly isWhole: boolean;
  readonly start: string;
}

/** Button with the number of unread messages that opens a panel above the page. */
function PanelButton({ isWhole, start }: PanelProps) {
  const { i18n } = useLingui();
  const { chat } = useServices();
  const [isOpen, setOpen] = useState(false);
  const count = useComputed(() => unreadIn(chat, start), [chat, start]);
  return (
    <>
      <button type="button" className={styles.button} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <MessageCircle size={18} aria-hidden />
        {i18n._('Chat')}
        <UnreadBadge count={count} />
      </button>
      {isOpen && (
        <div
          className={styles.panel}
          role="dialog"
          aria-label={i18n._('Chat')}
          onKeyDown={(event) => event.key === 'Escape' && !event.defaultPrevented && setOpen(false)}
        >
          {isWhole ? <Workspace /> : <Conversation />}
        </div>
      )}
    </>
  );
}
