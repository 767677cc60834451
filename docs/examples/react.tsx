import {
  Conversation,
  ConversationList,
  type MessageBodyProps,
  ParleyProvider,
  useConversation,
  useMessage,
  useReading,
  useUnread,
} from 'parley/web';
import 'parley/web/style.css';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

/** The product's own message component; it could replace links and pictures as well. */
function Plain({ message }: MessageBodyProps) {
  return (
    <p className="plain">
      {message.markdown ?? new DOMParser().parseFromString(message.html ?? '', 'text/html').body.textContent}
    </p>
  );
}

function Order({ name }: { readonly name: string }) {
  const count = useUnread({ channel: name, topic: 'Support' });
  const [person, setPerson] = useState<number | null>(null);
  return (
    <section>
      <h2>
        {name} ({count})
      </h2>
      {person !== null && <output>Customer {person}</output>}
      <div style={{ height: 360 }}>
        <Conversation
          channel={name}
          topic="Support"
          onPerson={(userId) => {
            setPerson(userId);
            return false;
          }}
        />
      </div>
    </section>
  );
}

/** A list drawn by the product itself, from the chat state. */
function Ticker() {
  const view = useConversation({ channel: 'Order 7' });
  return view && <Lines view={view} />;
}

function Lines({ view }: { readonly view: NonNullable<ReturnType<typeof useConversation>> }) {
  const keys = useReading(view.keys);
  return (
    <ol>
      {keys.map((key) => (
        <Line key={key} messageKey={key} />
      ))}
    </ol>
  );
}

function Line({ messageKey }: { readonly messageKey: string }) {
  return <li>{useMessage(messageKey)?.sender.name}</li>;
}

createRoot(document.getElementById('root')!).render(
  <ParleyProvider
    url="/chat"
    components={{ MessageBody: Plain }}
    fallback="Loading"
    loggedOut={<a href="/log-in">Log in</a>}
  >
    <Order name="Order 7" />
    <Ticker />
    <div style={{ height: 240 }}>
      <ConversationList />
    </div>
  </ParleyProvider>,
);
