import { personOf } from '../../log-in.js';
import { page } from '../../page.js';

export default defineEventHandler((event) => page(personOf(event.node.req), getQuery(event).next));
