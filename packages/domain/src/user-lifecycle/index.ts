// Nothing of it is for other packages: it runs inside the units of other features' use cases.
import '../users/user-errors.js';

export type {} from './add-user.js';
