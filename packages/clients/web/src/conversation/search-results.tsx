// Parts of a search page, loaded when a search opens.
import { useLingui } from '@lingui/react';
import { type ConversationView, formatSearch, type Narrow, narrowKey } from '@parley/chat';
import type { FoundMessage, ParleyError } from '@parley/client';
import { signal } from '@preact/signals-core';
import { type KeyboardEvent, type ReactNode, useEffect, useState } from 'react';
import { MessageBody } from '../content/message-body.js';
import { DestinationHeading, isWord } from '../editor/destination-heading.js';
import { timeText } from '../editor/times.js';
import { RotateCcw, SearchX, X } from '../icons/icons.js';
import { Avatar } from '../kit/avatar.js';
import { Loading } from '../kit/loading.js';
import { useChat, useComputed, useServices } from '../services/context.js';
import { useReason } from '../services/failures.js';
import { readStored, store } from '../services/storage.js';
import { useReading } from '../services/use-reading.js';
import pageStyles from './conversation-page.module.css';
import { destinationOfHit, findMessages } from './found-messages.js';
import styles from './search-results.module.css';

const ORDER_KEY = 'parley-search-order';

/** True if this browser shows the most relevant messages of a search first, instead of the newest ones. */
const byRelevance = signal(readStored(ORDER_KEY) !== null);

function orderByRelevance(isOn: boolean): void {
  byRelevance.value = isOn;
  store(ORDER_KEY, isOn ? 'relevance' : null);
}

/** Maximum messages in the order of relevance. */
const MAX_RELEVANT = 50;

const PLACES = new Set<Narrow[number]['operator']>(['channel', 'topic', 'dm']);

interface Props {
  readonly view: ConversationView;
}

interface ResultsProps extends Props {
  /** Messages in the order of time. */
  readonly children: ReactNode;
}

/** Results in the chosen order, below a bar with filters. */
export function SearchResults({ view, children }: ResultsProps) {
  const { isVisitor } = useChat();
  const isOrdered = view.narrow.some(isWord) && !isVisitor;
  const isByRelevance = useReading(byRelevance) && isOrdered;
  return (
    <>
      <ResultsBar narrow={view.narrow} isOrdered={isOrdered} isByRelevance={isByRelevance} />
      <Incomplete view={view} />
      {isByRelevance ? <MostRelevant key={narrowKey(view.narrow)} narrow={view.narrow} /> : children}
    </>
  );
}

interface BarProps {
  readonly narrow: Narrow;
  readonly isOrdered: boolean;
  readonly isByRelevance: boolean;
}

function ResultsBar({ narrow, isOrdered, isByRelevance }: BarProps) {
  const { i18n } = useLingui();
  return (
    <div className={styles.bar}>
      {isOrdered && (
        <fieldset className={styles.order} aria-label={i18n._('Order')}>
          <button type="button" aria-pressed={!isByRelevance} onClick={() => orderByRelevance(false)}>
            {i18n._('Latest')}
          </button>
          <button type="button" aria-pressed={isByRelevance} onClick={() => orderByRelevance(true)}>
            {i18n._('Most relevant')}
          </button>
        </fieldset>
      )}
      <Filters narrow={narrow} />
      <SearchEverywhere narrow={narrow} />
    </div>
  );
}

/** Filters of a search, each as a link to the search without it. */
function Filters({ narrow }: { readonly narrow: Narrow }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const filters = useComputed(() => {
    const terms = narrow.map((term) => ({ term, text: formatSearch(chat.state, [term]) }));
    // A filter may occur twice.
    const texts = new Set(terms.filter(({ term }) => !isWord(term)).map(({ text }) => text));
    return [...texts].map((text) => {
      const others = terms.filter((it) => it.text !== text).map((it) => it.term);
      return { text, href: chat.formatAddress({ view: 'narrow', narrow: others, near: null }) };
    });
  }, [chat, narrow]);
  return filters.map(({ text, href }) => (
    <a key={text} className={styles.filter} href={href} title={i18n._('Remove {name}', { name: text })}>
      <span>{text}</span> <X size={12} aria-hidden />
    </a>
  ));
}

/** Link from a search in a channel or conversation to the same search everywhere. */
function SearchEverywhere({ narrow }: { readonly narrow: Narrow }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const words = narrow.filter(({ operator }) => !PLACES.has(operator));
  if (words.length === 0 || words.length === narrow.length) return null;
  return (
    <a className={styles.everywhere} href={chat.formatAddress({ view: 'narrow', narrow: words, near: null })}>
      {i18n._('Search everywhere')}
    </a>
  );
}

function Incomplete({ view }: Props) {
  const { i18n } = useLingui();
  const isIncomplete = useReading(view.isIncomplete);
  return (
    isIncomplete && (
      <output className={pageStyles.gone}>{i18n._('Older messages are still being indexed for search.')}</output>
    )
  );
}

/** Links from a search without results to the search with corrected words, without a filter, and everywhere. */
export function NothingFound({ view }: Props) {
  const { i18n } = useLingui();
  const chat = useChat();
  const { narrow } = view;
  const text = useReading(view.proposal);
  const others = narrow.filter((term) => !isWord(term));
  const corrected: Narrow = text === null ? [] : [...others, { operator: 'search', operand: text }];
  return (
    <>
      <SearchX size={32} strokeWidth={1.5} aria-hidden />
      <p className={styles.nothing}>{i18n._('Nothing found')}</p>
      {narrow.some(isWord) && i18n._('Try fewer or other words.')}
      <Incomplete view={view} />
      {text !== null && (
        <a href={chat.formatAddress({ view: 'narrow', narrow: corrected, near: null })}>
          {i18n._('Search for “{text}” instead', { text })}
        </a>
      )}
      <div className={styles.parts}>
        <Filters narrow={narrow} />
      </div>
      <SearchEverywhere narrow={narrow} />
    </>
  );
}

function MostRelevant({ narrow }: { readonly narrow: Narrow }) {
  const { i18n } = useLingui();
  const services = useServices();
  const [attempt, setAttempt] = useState(0);
  const [hits, setHits] = useState<readonly FoundMessage[] | null>(null);
  const [failure, setFailure] = useState<ParleyError | null>(null);
  const reason = useReason(failure);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another narrow has another key.
  useEffect(() => {
    let isOver = false;
    setFailure(null);
    findMessages(services, narrow, MAX_RELEVANT, 'relevance').then(
      (found) => isOver || setHits(found),
      (error: ParleyError) => isOver || setFailure(error),
    );
    return () => {
      isOver = true;
    };
  }, [services, attempt]);
  if (failure !== null) {
    return (
      <div className={pageStyles.empty} role="alert">
        <p>{reason}</p>
        <button type="button" onClick={() => setAttempt(attempt + 1)}>
          <RotateCcw size={16} aria-hidden /> {i18n._('Try again')}
        </button>
      </div>
    );
  }
  if (hits === null) return <Loading />;
  return (
    <section className={styles.hits} aria-label={i18n._('Messages')} data-messages tabIndex={-1} onKeyDown={moveFocus}>
      <ol>
        {hits.map((message) => (
          <li key={message.id}>
            <Hit message={message} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Moves between the links of the hits. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-hit] > :first-child a')];
  const active = event.currentTarget.ownerDocument.activeElement;
  const at = links.findIndex((link) => link.closest('[data-hit]')?.contains(active));
  const last = links.length - 1;
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: Math.min(at + 1, last),
    ArrowUp: Math.max(at - 1, 0),
    Home: 0,
    End: last,
  };
  const target = targets[event.key];
  if (target === undefined || last < 0) return;
  event.preventDefault();
  links[target]!.focus();
}

function Hit({ message }: { readonly message: FoundMessage }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const sender = useReading(chat.people.person(message.sender_id));
  return (
    <article className={styles.hit} data-hit>
      <DestinationHeading
        destination={destinationOfHit(message, chat.state.selfId)}
        messageId={message.id}
        match={message.match_subject}
      />
      <div className={styles.sender}>
        <Avatar url={sender.avatarUrl} name={sender.name} size={20} />
        <strong dir="auto">{sender.name}</strong>
        <time dateTime={new Date(message.timestamp * 1000).toISOString()}>{timeText(i18n, message.timestamp)}</time>
      </div>
      {sender.isMuted ? (
        <p>{i18n._('Message from a person you have muted.')}</p>
      ) : (
        <div className={styles.text}>
          <MessageBody html={message.match_content ?? message.content} />
        </div>
      )}
    </article>
  );
}
