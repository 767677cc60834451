import { useContext } from 'react';
import { MessageBody as Body, ContentContext } from '../content/message-body.js';
import { SmallPart } from '../element/part.js';

/** Message HTML rendered like in the chat, for products that render the rest of a message themselves. */
export function MessageBody({ html }: { readonly html: string }) {
  const isWithinPart = useContext(ContentContext) !== null;
  if (isWithinPart) return <Body html={html} />;
  return (
    <SmallPart isInline>
      <Body html={html} />
    </SmallPart>
  );
}
