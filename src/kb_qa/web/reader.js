// (a stand-in until the reader's own)
export function showTarget() {}
