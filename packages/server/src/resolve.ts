/** Answers the one instance of a class that a module binds: a use case, mostly. */
export type Resolve = <T>(type: abstract new (...dependencies: never[]) => T) => T;
