import { Workspace } from '../app/app.js';
import { Part, type PartProps } from '../element/part.js';
import type { Place } from '../element/place.js';

/** Everything: conversations, messages, people and search. */
export function Chat(props: PartProps & Place) {
  return (
    <Part {...props}>
      <Workspace />
    </Part>
  );
}
