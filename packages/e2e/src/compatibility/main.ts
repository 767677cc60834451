import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { renderCompatibility } from './compatibility.js';

writeFileSync(resolve(import.meta.dirname, '../../../../docs/compatibility.md'), renderCompatibility());
