export const COMMAND: string;
export const MAIN: string;
