import { type PartProps, SmallPart } from '../element/part.js';
import { PeoplePanel } from '../people/people-panel.js';

/** All people, present ones first. */
export function People(props: Omit<PartProps, 'onUnread'>) {
  return (
    <SmallPart {...props}>
      <PeoplePanel />
    </SmallPart>
  );
}
