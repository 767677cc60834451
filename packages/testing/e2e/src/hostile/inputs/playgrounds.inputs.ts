import { type Inputs, lengthened } from '../input-context.js';
import type { Fields } from '../routes.js';

const playground = (n: number): Fields => ({
  name: lengthened(`Play ${n} `, 1000),
  pygments_language: 'Python',
  url_template: lengthened('https://example.com/{code}', 1000),
});

export const INPUTS: Inputs = {
  'POST /realm/playgrounds': { 'a playground': ({ n }) => playground(n) },
};
