// A React application with the element. Its policy: require-trusted-types-for 'script'; trusted-types parley-content.
import type {} from 'parley/web/element-react';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

// React would set the address of a script element, which Trusted Types forbid; an import is allowed.
const ELEMENT = '/chat/web/element.js';
void import(/* @vite-ignore */ ELEMENT as string);

function Order({ name }: { readonly name: string }) {
  const [unread, setUnread] = useState(0);
  const [sent, setSent] = useState('');
  return (
    <section>
      <h2>
        {name} ({unread})
      </h2>
      <parley-chat
        channel={name}
        topic="Support"
        tools="simple"
        style={{ height: 360 }}
        onparley-unread={({ detail }) => setUnread(detail.count)}
        onparley-sent={({ detail }) => setSent(detail.content)}
      />
      {sent !== '' && <output>You wrote: {sent}</output>}
    </section>
  );
}

createRoot(document.getElementById('root')!).render(<Order name="Order 7" />);
