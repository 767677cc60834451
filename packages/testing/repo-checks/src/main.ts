import { measures } from './measures.js';

const all = measures();
const width = Math.max(...all.map(({ name }) => name.length));
for (const { name, value, details } of all) {
  console.log(`${name.padEnd(width)}  ${value.toLocaleString('en').padStart(7)}`);
  for (const detail of details) console.log(`${' '.repeat(width + 11)}${detail}`);
}
