import { Conversation as View } from '../element/conversation.js';
import { Part, type PartProps } from '../element/part.js';
import type { Place } from '../element/place.js';

/** Messages of one conversation with an input field. */
export function Conversation(props: PartProps & Place) {
  return (
    <Part {...props}>
      <View />
    </Part>
  );
}
