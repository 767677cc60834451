import type { I18n } from '@lingui/core';
import { useLingui } from '@lingui/react';
import type { PersonCard as CardModel, PersonRow, ProfileRow } from '@parley/chat';
import { MessageBody } from '../content/message-body.js';
import { Bell, BellOff, MessageSquare, Search, Smile } from '../icons/icons.js';
import { Avatar } from '../kit/avatar.js';
import { Card } from '../kit/card.js';
import { Emoji } from '../kit/emoji.js';
import { useOverlay } from '../kit/overlay.js';
import { useChat, useNames } from '../services/context.js';
import { reportFailure } from '../services/failures.js';
import { openOverlay } from '../services/overlay.js';
import { useReading } from '../services/use-reading.js';
import styles from './person-card.module.css';
import { PresenceDot } from './presence-dot.js';

/** Details of a person, with links and commands. */
export function PersonCard({ userId }: { readonly userId: number }) {
  const { i18n } = useLingui();
  const chat = useChat();
  const { anchor, close } = useOverlay();
  const person = useReading(chat.people.person(userId));
  const card = useReading(chat.people.card(userId));
  const isSelf = userId === chat.state.selfId;
  const address = (operator: 'dm' | 'sender') =>
    operator === 'dm'
      ? chat.formatAddress({ view: 'narrow', narrow: [{ operator, operand: isSelf ? [] : [userId] }], near: null })
      : chat.formatAddress({ view: 'narrow', narrow: [{ operator, operand: userId }], near: null });
  return (
    <Card label={person.name === '' ? i18n._('Unknown person') : person.name}>
      <div className={styles.card}>
        <header className={styles.header}>
          <Avatar url={person.avatarUrl} name={person.name} size={72} />
          <div className={styles.title}>
            <h2>
              <bdi>{person.name === '' ? i18n._('Unknown person') : person.name}</bdi>
            </h2>
            {card && <p>{roleOf(card, person, i18n)}</p>}
            {!person.isBot && person.isActive && !chat.isVisitor && (
              <p>
                <PresenceDot presence={person.presence} /> {presenceOf(card, person, i18n)}
              </p>
            )}
          </div>
        </header>
        {(person.statusText !== '' || person.statusEmoji) && (
          <p className={styles.status}>
            {person.statusEmoji && <Emoji {...person.statusEmoji} />} {person.statusText}
          </p>
        )}
        {card && <Details card={card} />}
        <div className={styles.actions}>
          {person.isActive && !chat.isVisitor && (
            <a href={address('dm')} onClick={close}>
              <MessageSquare size={16} aria-hidden />
              {isSelf ? i18n._('Messages with yourself') : i18n._('Send direct message')}
            </a>
          )}
          <a href={address('sender')} onClick={close}>
            <Search size={16} aria-hidden /> {i18n._('View messages sent')}
          </a>
          {chat.isVisitor || !person.isKnown ? null : isSelf ? (
            <button
              type="button"
              onClick={() =>
                openOverlay(anchor, async () => {
                  const { StatusDialog } = await import('./status-dialog.js');
                  return <StatusDialog />;
                })
              }
            >
              <Smile size={16} aria-hidden /> {i18n._('Set status')}
            </button>
          ) : (
            <button
              type="button"
              onClick={() => {
                close();
                chat.commands.mutePerson(userId, !person.isMuted).catch(reportFailure);
              }}
            >
              {person.isMuted ? <Bell size={16} aria-hidden /> : <BellOff size={16} aria-hidden />}
              {person.isMuted ? i18n._('Unmute this person') : i18n._('Mute this person')}
            </button>
          )}
        </div>
      </div>
    </Card>
  );
}

function Details({ card }: { readonly card: CardModel }) {
  const { i18n } = useLingui();
  const [owner] = useNames(card.ownerId === null ? [] : [card.ownerId]);
  const time = timeIn(card.timeZone, i18n);
  return (
    <dl className={styles.details}>
      <Row name={i18n._('Member since')}>{i18n.date(card.joinedAt, { dateStyle: 'long' })}</Row>
      {time !== null && <Row name={i18n._('Local time')}>{time}</Row>}
      {card.email !== null && card.email !== '' && (
        <Row name={i18n._('Email')}>
          <a href={`mailto:${card.email}`}>{card.email}</a>
        </Row>
      )}
      {owner !== undefined && <Row name={i18n._('Owner')}>{owner}</Row>}
      {card.profile.map((row) => (
        <Row key={row.id} name={row.name}>
          <ProfileValue row={row} />
        </Row>
      ))}
    </dl>
  );
}

function Row({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function ProfileValue({ row }: { readonly row: ProfileRow }) {
  const { i18n } = useLingui();
  const names = useNames(row.userIds);
  if (row.html !== null) return <MessageBody html={row.html} />;
  if (row.userIds.length > 0) return names.join(', ');
  // A date without a time is midnight in UTC.
  if (row.isDate) return i18n.date(row.text, { dateStyle: 'long', timeZone: 'UTC' });
  if (row.url === null || !/^https?:/.test(row.url)) return row.text;
  return (
    <a href={row.url} target="_blank" rel="noopener noreferrer">
      {row.text}
    </a>
  );
}

function roleOf({ role }: CardModel, { isBot, isActive }: PersonRow, i18n: I18n): string {
  if (!isActive) return i18n._('Deactivated account');
  if (isBot) return i18n._('Bot');
  return {
    owner: i18n._('Owner'),
    administrator: i18n._('Administrator'),
    moderator: i18n._('Moderator'),
    member: i18n._('Member'),
    guest: i18n._('Guest'),
  }[role];
}

function presenceOf(card: CardModel | null, { presence }: PersonRow, i18n: I18n): string {
  if (presence === 'active') return i18n._('Active now');
  if (presence === 'idle') return i18n._('Idle');
  if (!card?.lastSeenAt) return i18n._('Not active lately');
  const time = i18n.date(new Date(card.lastSeenAt * 1000), { dateStyle: 'medium', timeStyle: 'short' });
  return i18n._('Last active: {time}', { time });
}

/** Current time in a time zone; null if it is empty or unknown to the browser. */
function timeIn(timeZone: string, i18n: I18n): string | null {
  if (timeZone === '') return null;
  try {
    return i18n.date(new Date(), { timeZone, weekday: 'short', hour: 'numeric', minute: '2-digit' });
  } catch {
    return null;
  }
}
