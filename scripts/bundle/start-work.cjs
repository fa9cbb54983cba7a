// The thread that does the work while another has the terminal.
void require("./start.cjs").start("main").background();
