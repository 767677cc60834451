import { Workspace } from '../app/app.js';
import { Part, type PartProps } from '../element/part.js';
import type { Place } from '../element/place.js';

/** Whole chat: conversations, messages, people and search. */
export function Chat(props: PartProps & Place) {
  return (
    <Part {...props}>
      <Workspace />
    </Part>
  );
}
