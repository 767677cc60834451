import { type Delivery, POSITIONS_PER_SEQ } from '@parley/domain';
import { type EventContext, presentDelivery } from './event.presenters.js';

/** An event as it goes to one client: JSON text, and the position that is its id. */
export interface EventText {
  readonly position: number;
  readonly text: string;
}

/** What one delivery becomes on the wire for one queue: nothing, one event or several, in order. */
export function textsOf(delivery: Delivery, context: EventContext): readonly EventText[] {
  const first = delivery.stored.seq * POSITIONS_PER_SEQ;
  return presentDelivery(delivery, context).map((body, n) => ({
    position: first + n,
    text: `{${body},"id":${first + n}}`,
  }));
}
