// A shop with custom messages, mentions, code, pictures and people around Parley's message list and composer.
import type { AvatarProps, CodeBlockProps, ImageProps, MentionProps, MessageProps } from 'parley/web';
import { Composer } from 'parley/web/composer';
import { useData, useUnread } from 'parley/web/hooks';
import { Messages } from 'parley/web/messages';
import { ParleyProvider } from 'parley/web/provider';
import 'parley/web/style.css';
import './custom-look.css';
import { createRoot } from 'react-dom/client';

const components = { Message: Bubble, Mention: Name, CodeBlock: Receipt, Image: Photo, Avatar: Initial };

function Bubble({ message, body, actions }: MessageProps) {
  const thanks = { emoji_name: 'heart', emoji_code: '2764', reaction_type: 'unicode_emoji' } as const;
  const isThanked = message.reactions.some(({ emojiCode, isOwn }) => emojiCode === thanks.emoji_code && isOwn);
  return (
    <article className="bubble">
      <b>{message.sender.name}</b>
      {body}
      {message.data && <Card {...(message.data as never as OrderData)} />}
      {actions && (
        <footer>
          <button type="button" aria-pressed={isThanked} onClick={() => actions.react(thanks, !isThanked)}>
            Thanks
          </button>
          <button type="button" onClick={({ currentTarget }) => actions.openMenu(currentTarget)}>
            More
          </button>
        </footer>
      )}
    </article>
  );
}

/** Data that the shop has sent with its message. */
interface OrderData {
  readonly orderId: number;
  readonly total: string;
  readonly state: string;
}

function Card({ orderId, total, state }: OrderData) {
  return (
    <dl className="card" aria-label={`Order ${orderId}`}>
      <dt>Total</dt>
      <dd>{total}</dd>
      <dt>State</dt>
      <dd>{state}</dd>
    </dl>
  );
}

function Name({ text, concernsMe }: MentionProps) {
  return <span className={concernsMe ? 'name me' : 'name'}>{text}</span>;
}

function Receipt({ text, language }: CodeBlockProps) {
  return (
    <pre className="receipt" data-language={language}>
      {text}
    </pre>
  );
}

function Photo({ src, href, title }: ImageProps) {
  return (
    <a href={href} className="photo">
      <img src={src} alt={title} />
    </a>
  );
}

function Initial({ name }: AvatarProps) {
  return <span className="initial">{name.slice(0, 1)}</span>;
}

function Order({ number }: { readonly number: number }) {
  const place = { channel: `Order ${number}`, topic: 'Support' };
  const count = useUnread(place);
  // Data of the channel, which changes for everybody when the shop changes it.
  const order = useData(place) as Pick<OrderData, 'state'> | null;
  return (
    <section className="order">
      <h2>
        Order {number} <small>{count} new</small> {order?.state}
      </h2>
      <div className="messages">
        <Messages {...place} />
      </div>
      <Composer {...place} />
    </section>
  );
}

createRoot(document.getElementById('root')!).render(
  <ParleyProvider url="/chat" components={components} fallback="Loading" loggedOut={<a href="/log-in">Log in</a>}>
    <Order number={7} />
  </ParleyProvider>,
);
