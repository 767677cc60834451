import { useLingui } from '@lingui/react';
import type { MessageRow as Message } from '@parley/chat';
import { useEffect, useRef, useState } from 'react';
import kit from '../kit/kit.module.css';
import { useServices } from '../services/context.js';
import { contentOf } from './spoken-message.js';

/** Pause after a keystroke before new messages are announced. */
const TYPING_PAUSE_MS = 3000;
const MAX_ANNOUNCED = 200;

interface AnnouncementsProps {
  readonly keys: readonly string[];
  /** False while the newest messages are not loaded. */
  readonly isLive: boolean;
}

/** Announces other people's new messages to screen readers; waits while the user types. */
export default function Announcements({ keys, isLive }: AnnouncementsProps) {
  const { i18n } = useLingui();
  const { chat, baseUrl } = useServices();
  const [said, setSaid] = useState({ text: '', number: 0 });
  const newest = useRef<string | undefined>(undefined);
  const waiting = useRef<{ readonly first: Message; readonly count: number } | null>(null);
  const typedAt = useRef(0);
  useEffect(() => {
    const onInput = () => {
      typedAt.current = Date.now();
    };
    document.addEventListener('input', onInput);
    return () => document.removeEventListener('input', onInput);
  }, []);
  useEffect(() => {
    const from = newest.current === undefined ? -1 : keys.indexOf(newest.current);
    newest.current = isLive ? keys.at(-1) : undefined;
    for (const key of from === -1 ? [] : keys.slice(from + 1)) {
      const message = chat.message(key).peek();
      if (!message || message.isOwn || chat.people.person(message.sender.id).peek().isMuted) continue;
      const { first, count } = waiting.current ?? { first: message, count: 0 };
      waiting.current = { first, count: count + 1 };
    }
    if (waiting.current === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const say = () => {
      const pause = typedAt.current + TYPING_PAUSE_MS - Date.now();
      if (pause > 0) {
        timer = setTimeout(say, pause);
        return;
      }
      const { first, count } = waiting.current!;
      waiting.current = null;
      const text =
        count === 1
          ? `${first.sender.name}: ${shortened(contentOf(first, baseUrl, i18n))}`
          : i18n._('{count, plural, one {# new message} other {# new messages}}', { count });
      setSaid(({ number }) => ({ text, number: number + 1 }));
    };
    say();
    return () => clearTimeout(timer);
  }, [keys, isLive, chat, baseUrl, i18n]);
  return (
    <p className={kit.hiddenText} aria-live="polite">
      {/* The key makes identical consecutive texts announced again. */}
      <span key={said.number}>{said.text}</span>
    </p>
  );
}

const shortened = (text: string): string =>
  text.length <= MAX_ANNOUNCED ? text : `${text.slice(0, MAX_ANNOUNCED).replace(/\s\S*$/, '')}…`;
