import { Conversation as View } from '../element/conversation.js';
import { Part, type PartProps } from '../element/part.js';
import type { Place } from '../element/place.js';

/** Messages of one conversation, with a field to write. */
export function Conversation(props: PartProps & Place) {
  return (
    <Part {...props}>
      <View />
    </Part>
  );
}
