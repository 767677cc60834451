import { useContext } from 'react';
import { MessageBody as Body, ContentContext } from '../content/message-body.js';
import { SmallPart } from '../element/part.js';

/** HTML of a message, as the chat draws it; for components that draw the rest of a message by themselves. */
export function MessageBody({ html }: { readonly html: string }) {
  const isWithinPart = useContext(ContentContext) !== null;
  if (isWithinPart) return <Body html={html} />;
  return (
    <SmallPart isInline>
      <Body html={html} />
    </SmallPart>
  );
}
